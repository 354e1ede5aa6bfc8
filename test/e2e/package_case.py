"""Packages of the release, built once for each file that tests them, and the README's walk against a server that was
started from one."""

import os
import pathlib
import re
import subprocess
import tempfile
import threading
import unittest

import test_readme
from debian_tree import stop
from server_process import BINARY, is_sanitized, release_binary

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent


def run(*words, **how):
    """(exit code, everything that it said)."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, **how)
    return done.returncode, done.stdout


def checked(*words, **how):
    code, said = run(*words, **how)
    if code != 0:
        raise AssertionError(f"{words} ended with {code}:\n{said}")
    return said


def why_no_tree():
    if os.geteuid() != 0:
        return "only root can make a Debian tree"
    code, said = run("unshare", "--mount", "--propagation", "private", "mount", "-t", "tmpfs", "none", "/mnt")
    return None if code == 0 else f"this machine does not let root mount: {said}"


class PackageCase(unittest.TestCase):
    """Packages of the release, built once for the module."""
    folder = None

    @classmethod
    def setUpClass(cls):
        if not PackageCase.folder:
            make_packages()
        cls.server_root = PackageCase.folder / "restante"
        cls.client_root = PackageCase.folder / "restante-client"

    @classmethod
    def dependencies(cls):
        """Of both packages, and the systemd that test_package_service.py boots in the same tree."""
        return sorted({"systemd-sysv", "dbus"} | {re.split(r"[ (|:]", need)[0] for deb in cls.debs.values()
                                                  for need in checked("dpkg-deb", "-f", str(deb), "Depends").strip().split(", ")})

    def pages(self):
        return sorted([*self.server_root.glob("usr/share/man/*/*"), *self.client_root.glob("usr/share/man/*/*")])


def make_packages():
    built = pathlib.Path(release_binary() or BINARY).resolve().parent
    if is_sanitized(built / "restante"):
        raise unittest.SkipTest("NOT RUN: packages are made of a build without sanitizers")
    PackageCase.holder = tempfile.TemporaryDirectory(prefix="restante-package-")
    folder = pathlib.Path(PackageCase.holder.name)
    folder.chmod(0o755)  # the user of the service has to get in
    checked(str(SOURCE / "packaging" / "build"), "--from", str(built), "--into", str(folder))
    PackageCase.debs = {path.name.split("_")[0]: path for path in folder.glob("*.deb")}
    for name, deb in PackageCase.debs.items():
        checked("dpkg-deb", "-x", str(deb), str(folder / name))
    PackageCase.folder = folder


def tearDownModule():
    if PackageCase.folder:
        PackageCase.holder.cleanup()


class WalkCase(PackageCase):
    """Walks through the README against a server."""

    def addresses(self):
        """Loopback only, where registration is open, and ports that are free."""
        return {"RESTANTE_LISTEN": "127.0.0.1:0", "RESTANTE_LISTEN_TLS": "127.0.0.1:0", "RESTANTE_METRICS_LISTEN": "127.0.0.1:0"}

    def walk(self, command, then=None):
        """Against the server that this command runs; `then(base)` while it still does."""
        log = self.enterContext(tempfile.TemporaryFile("w+"))
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, cwd="/") as server:
            alarm = threading.Timer(120, server.kill)
            alarm.start()
            ready = re.match(r"restante ready http=(\S+) ", server.stdout.readline())
            alarm.cancel()
            try:
                if not ready:
                    log.seek(0)
                    self.fail(f"the service did not start:\n{log.read()[-3000:]}")
                self.walk_through(f"http://{ready[1]}")
                if then:
                    then(f"http://{ready[1]}")
            finally:
                code = stop(server)
        self.assertEqual(code, 0)

    def walk_through(self, base, enter=()):
        """`enter` are the words before bash that bring it to where the server is."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        code, out = run(*enter, "bash", "-euo", "pipefail", cwd=folder, env={**os.environ, "BASE": base, "TMPDIR": folder},
                        input="".join(test_readme.shell_blocks(SOURCE / "README.md")))
        self.assertEqual(code, 0, out)
        self.assertIn("the same bytes", out)
