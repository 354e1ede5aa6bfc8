#!/usr/bin/env python3
"""packaging/Containerfile as a container engine takes it. The image's second stage is built on a minimal Debian of our own;
the package is that of the release instead of the first stage's, which would compile for minutes. Its command then serves the
README's walk as its user, without capabilities, with nothing but /var/tmp and its volume to write to."""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from debian_tree import DebianTree
from image_engine import LIMITS, ImageEngine, why_no_engine
from package_case import SOURCE, WalkCase, tearDownModule, why_no_tree  # noqa: F401
from pg_client import format_conninfo, parse_conninfo
from pg_proxy import upstream_of
from proxy import Proxy
from testbed import Database

CONTAINERFILE = SOURCE / "packaging" / "Containerfile"
IMAGE = "localhost/restante"
RUN = ["run", "--rm", "--network=host", "--log-driver=none", *LIMITS]


def bases():
    """The images that it is built on, as images of this machine."""
    return [f"localhost/{name}" for name in re.findall(r"^FROM (\S+)", CONTAINERFILE.read_text(), re.MULTILINE)]


class Image(WalkCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        why_not = why_no_tree() or why_no_engine()
        cls.place = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="restante-image-"))
        if not why_not:
            try:
                tree = DebianTree(cls.place, ["ca-certificates"])
            except subprocess.CalledProcessError:
                why_not = "debootstrap failed, as above; has this machine no way to Debian's archive?"
        if why_not:
            raise unittest.SkipTest(f"NOT RUN: the image of a container engine: {why_not}")
        cls.engine = ImageEngine(cls.place)
        cls.engine.add_base(tree, *bases())
        shutil.rmtree(tree.root)
        code, said = cls.engine.run(*RUN, bases()[-1], "true")
        if code != 0:
            raise unittest.SkipTest(f"NOT RUN: podman cannot run even a plain Debian here: {said}")
        cls.build()

    @classmethod
    def build(cls):
        """What the first stage would leave: the package, and the tree in /src."""
        made = pathlib.Path(cls.place, "build")
        (made / "packages").mkdir(parents=True)
        shutil.copy(cls.debs["restante"], made / "packages")
        shutil.copytree(SOURCE / "packaging", made / "src" / "packaging")
        cls.engine.checked("build", "--isolation=chroot", "--pull-never", "--build-context", f"build={made}", "--file",
                           str(CONTAINERFILE), "--tag", IMAGE, str(SOURCE))

    def options(self, *more):
        """Those that the container file's comment advises, and the network of this machine, of which loopback is used."""
        advised = re.search(r"docker run (.*?) -p", CONTAINERFILE.read_text())[1].split()
        self.assertEqual(advised, ["--read-only", "--tmpfs", "/var/tmp", "--cap-drop", "ALL"])
        return [*RUN, *advised, *more]

    def test_it_serves_with_a_read_only_root(self):
        db = self.enterContext(Database())
        link = self.enterContext(Proxy(upstream_of(db.conninfo)))  # the socket is not for other users
        url = format_conninfo({**parse_conninfo(db.conninfo), "host": "127.0.0.1", "port": str(link.port)})
        variables = {**self.addresses(), "RESTANTE_DATABASE_URL": url}
        self.walk(self.engine.command(*self.options(*(f"--env={name}={value}" for name, value in variables.items())), IMAGE))

    def test_it_has_a_user_no_capabilities_and_little_to_write_to(self):
        script = ("id -un; grep ^CapBnd /proc/self/status; for place in / /usr /etc /var/tmp /var/lib/restante /tmp; do "
                  "touch $place/written 2>/dev/null && echo $place; done; true")
        said = self.engine.checked(*self.options("--entrypoint=sh"), IMAGE, "-c", script).split()
        self.assertEqual(said[:3], ["restante", "CapBnd:", "0" * 16])
        self.assertLessEqual(set(said[3:]), {"/var/tmp", "/var/lib/restante", "/tmp"})
        self.assertLessEqual({"/var/tmp", "/var/lib/restante"}, set(said[3:]))

    def test_it_is_small_and_has_no_postgresql(self):
        told = json.loads(self.engine.checked("image", "inspect", IMAGE, bases()[-1]))
        added = told[0]["Size"] - told[1]["Size"]
        print(f"the image adds {added / 1e6:.0f} MB to a Debian of {told[1]['Size'] / 1e6:.0f} MB")
        self.assertLess(added, 60_000_000)
        self.assertEqual((told[0]["Config"]["User"], told[0]["Config"]["StopSignal"]), ("restante", "SIGTERM"))
        self.assertEqual(sorted(told[0]["Config"]["ExposedPorts"]), ["8443/tcp", "9464/tcp"])
        said = self.engine.checked(*self.options("--entrypoint=sh"), IMAGE, "-c", "ls /usr/lib/postgresql /usr/share/man/man1 2>&1; true")
        self.assertNotIn("restante", said)
        self.assertIn("cannot access '/usr/lib/postgresql'", said)


if __name__ == "__main__":
    unittest.main()
