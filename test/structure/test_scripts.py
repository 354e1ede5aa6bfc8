#!/usr/bin/env python3
"""scripts/common.sh without root: whoever cannot install the packages is given the exact command."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

COMMON = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts" / "common.sh"
COMMAND = "apt-get update && apt-get install -y --no-install-recommends one two\n"


class InstallPackages(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="restante-scripts-")))
        self.folder.chmod(0o755)
        shutil.copy(COMMON, self.folder)
        (self.folder / "list").write_text("# a comment\none\n\ntwo\n")
        self.add_program("dpkg-query", "exit 1")
        for program in ("cat", "env"):
            (self.folder / program).symlink_to(shutil.which(program))

    def add_program(self, name, text):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def install(self):
        """As an ordinary user, with no programs but those in the folder."""
        user = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        done = subprocess.run(["/bin/bash", "-c", "source ./common.sh; install_packages list"], cwd=self.folder,
                              env={"PATH": str(self.folder)}, capture_output=True, text=True, timeout=20, **user)
        return done.returncode, done.stderr

    def test_without_sudo(self):
        code, err = self.install()
        self.assertEqual(code, 1)
        self.assertTrue(err.endswith(COMMAND), err)

    def test_when_sudo_refuses(self):
        self.add_program("sudo", 'echo "you are not in the sudoers file" >&2; exit 1')
        code, err = self.install()
        self.assertEqual(code, 1)
        self.assertTrue(err.endswith(COMMAND), err)

    def test_when_apt_get_fails(self):
        self.add_program("sudo", 'exec "$@"')
        self.add_program("apt-get", '[ "$1" = update ]')
        code, err = self.install()
        self.assertEqual(code, 1)
        self.assertTrue(err.endswith(COMMAND), err)

    def test_when_it_works(self):
        self.add_program("sudo", 'exec "$@"')
        self.add_program("apt-get", 'echo "apt-get $*" >&2')
        code, err = self.install()
        self.assertEqual(code, 0, err)
        self.assertIn("apt-get install -y -q --no-install-recommends one two\n", err)


if __name__ == "__main__":
    unittest.main()
