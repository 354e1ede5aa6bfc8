#!/usr/bin/env python3
"""The packages: lintian has nothing to say, manual pages and completions work in the programs that read them, and in a
minimal Debian the service's command serves the README's walk as its own user, after which a purge leaves nothing."""

import gzip
import json
import os
import pathlib
import pty
import re
import select
import subprocess
import tempfile
import time
import unittest

from debian_tree import DebianTree, Unit
from package_case import SOURCE, PackageCase, WalkCase, checked, run, tearDownModule, why_no_tree  # noqa: F401
from server_process import BINARY, release_binary


class Packages(PackageCase):
    def test_lintian_finds_neither_errors_nor_warnings(self):
        code, said = run("lintian", "--allow-root", "--fail-on", "error,warning", *map(str, self.debs.values()))
        self.assertEqual((code, re.findall(r"^[EW]: .*$", said, re.MULTILINE)), (0, []), said)

    def test_the_client_needs_no_postgresql(self):
        needs = {name: checked("dpkg-deb", "-f", str(deb), "Depends") for name, deb in self.debs.items()}
        self.assertIn("postgresql-15", needs["restante"])
        self.assertIn("libpq5", needs["restante"])
        self.assertNotRegex(needs["restante-client"], "libpq|postgresql")

    def test_settings_are_kept_by_dpkg(self):
        self.assertEqual(checked("dpkg-deb", "-I", str(self.debs["restante"]), "conffiles"), "/etc/restante/restante.conf\n")
        self.assertEqual((self.server_root / "etc/restante/restante.conf").read_text(),
                         (SOURCE / "docs" / "restante.conf").read_text())

    def test_the_list_of_components_names_what_is_linked(self):
        for name, root in (("restante", self.server_root), ("restante-client", self.client_root)):
            told = json.loads((root / f"usr/share/doc/{name}/{name}.cdx.json").read_text())
            self.assertEqual((told["bomFormat"], told["metadata"]["component"]["name"]), ("CycloneDX", name))
            parts = {part["name"]: part for part in told["components"]}
            self.assertEqual("libpq5" in parts, name == "restante")
            self.assertLessEqual({"boost-asio", "boost-beast", "libssl3", "libc6"}, set(parts))
            self.assertNotIn("gtest", parts)
            wanted = json.loads((SOURCE / "vcpkg.json").read_text())["dependencies"]
            wanted = {each if isinstance(each, str) else each["name"] for each in wanted}
            boost = {each for each in wanted if each.startswith("boost-")}
            self.assertEqual([each for each in boost if each not in parts and f"lib{each}1.81.0" not in parts], [])
            for part in told["components"]:
                self.assertRegex(part["purl"], r"^pkg:deb/debian/[a-z0-9.+-]+@[^@ ]+\?arch=")
            loaded = checked("ldd", str(root / "usr/bin" / name))
            self.assertEqual("libpq.so" in loaded, "libpq5" in parts)

    def test_the_changelog_has_this_version(self):
        version = checked(str(self.server_root / "usr/bin/restante"), "--version").split()[1]
        for name, root in (("restante", self.server_root), ("restante-client", self.client_root)):
            text = gzip.decompress((root / f"usr/share/doc/{name}/changelog.gz").read_bytes()).decode()
            self.assertTrue(text.startswith(f"{name} ({version}) "), text[:200])

    def test_units_name_the_installed_programs(self):
        unit = Unit(self.server_root / "lib/systemd/system/restante.service")
        self.assertEqual(unit.command()[0], "/usr/bin/restante")
        user = Unit(self.client_root / "usr/lib/systemd/user/restante-pull.service")
        self.assertEqual(user.command(), ["/usr/bin/restante-client", "pull"])

    def test_cmake_installs_below_any_prefix(self):
        built = pathlib.Path(release_binary() or BINARY).resolve().parent
        place = self.enterContext(tempfile.TemporaryDirectory())
        checked("cmake", "--install", str(built), "--prefix", "/opt/restante", "--component", "server",
                env={**os.environ, "DESTDIR": place})
        root = pathlib.Path(place, "opt/restante")
        self.assertTrue(os.access(root / "bin/restante", os.X_OK))
        self.assertTrue((root / "share/man/man1/restante-serve.1").exists())
        self.assertEqual(Unit(root / "lib/systemd/system/restante.service").command()[0], "/opt/restante/bin/restante")


class Configured(unittest.TestCase):
    """The script that dpkg runs, on a directory of its own and with commands that do nothing, or fail."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.token = self.folder / "etc/admin-token"
        self.token.parent.mkdir()
        for name in ("getent", "chown", "deb-systemd-helper", "deb-systemd-invoke", "systemctl"):
            self.make_command(name, "exit 0")

    def make_command(self, name, text):
        (self.folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (self.folder / name).chmod(0o755)

    def configure(self):
        script = (SOURCE / "packaging/restante/postinst").read_text().replace("/etc/restante", str(self.token.parent))
        return run("sh", "-c", script, "postinst", "configure", env={"PATH": f"{self.folder}:/usr/bin:/bin"})

    def assert_configured(self):
        self.assertEqual(self.configure(), (0, ""))
        self.assertRegex(self.token.read_text(), r"^[A-Za-z0-9+/]{43}=\n$")
        self.assertEqual(self.token.stat().st_mode & 0o777, 0o640)
        self.assertEqual([path.name for path in self.token.parent.iterdir()], ["admin-token"])

    def test_a_token_is_made_once(self):
        self.assert_configured()
        kept = self.token.read_text()
        self.assert_configured()
        self.assertEqual(self.token.read_text(), kept)

    def test_a_token_that_was_half_made_is_made_again(self):
        for name, text in (("base64", "printf half; exit 1"), ("chown", "exit 1"), ("chown", "kill -9 $PPID")):
            with self.subTest(name=name, text=text):
                self.make_command(name, text)
                self.assertNotEqual(self.configure()[0], 0)
                self.assertFalse(self.token.exists())
                self.make_command(name, 'PATH=/usr/bin:/bin exec base64' if name == "base64" else "exit 0")
                self.assert_configured()
                self.token.unlink()

    def test_an_empty_token_is_none(self):
        self.token.touch()
        self.assert_configured()


class Manual(PackageCase):
    def test_every_page_renders_without_a_warning(self):
        self.assertGreater(len(self.pages()), 20)
        for page in self.pages():
            with self.subTest(page.name):
                plain = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()), page.stem)
                plain.write_bytes(gzip.decompress(page.read_bytes()))
                self.assertEqual(run("mandoc", "-T", "lint", "-W", "style", str(plain)), (0, ""))
                code, said = run("sh", "-c", 'man --warnings -E UTF-8 -l -Tutf8 -Z "$0" >/dev/null', str(plain),
                                 env={**os.environ, "LC_ALL": "C.UTF-8"})
                self.assertEqual((code, said), (0, ""))
                self.assertIn(f'"{plain.stem} - ', checked("lexgrog", str(plain)))

    def page(self, name):
        found = [page for page in self.pages() if page.name == name + ".gz"]
        self.assertEqual(len(found), 1, name)
        return gzip.decompress(found[0].read_bytes()).decode().replace("\\-", "-")

    def test_every_command_has_a_page_with_all_of_its_options(self):
        for program, root in (("restante", self.server_root), ("restante-client", self.client_root)):
            binary = str(root / "usr/bin" / program)
            said = checked(binary, "--help").partition("\nCommands\n")[2]
            commands = re.findall(r"^  ([a-z]+(?: [a-z]+)?)(?= |$)", said, re.MULTILINE)
            self.assertGreater(len(commands), 3)
            for words in commands:
                flags = re.findall(r"^  (--[a-z0-9-]+)", checked(binary, *words.split(), "--help"), re.MULTILINE)
                page = self.page("-".join([program, *words.split()]) + ".1")
                self.assertEqual([flag for flag in flags if f"\n\\fB{flag}\\fR" not in page], [], words)

    def test_the_page_of_the_file_has_every_setting(self):
        said = checked(str(self.server_root / "usr/bin/restante"), "serve", "--help")
        keys = set(re.findall(r"^  --([a-z0-9-]+)", said, re.MULTILINE)) - {"config"}
        page = self.page("restante.conf.5")
        self.assertEqual({key for key in keys if f"\\fB{key}\\fR = " not in page}, set())


class Completions(PackageCase):
    def path(self, kind, name):
        root = self.client_root if "client" in name else self.server_root
        return root / "usr/share" / kind / name

    def test_bash(self):
        for program, words, expected in (
                ("restante", ["work"], ["workspace"]), ("restante", ["workspace", "se"], ["secret"]),
                ("restante", ["serve", "--log-level", ""], ["debug", "info", "warn", "error"]),
                ("restante", ["workspace", "add", "--mo"], ["--mode"]),
                ("restante", ["serve", "--config", "/etc/passw"], None),
                ("restante-client", ["send", "--wait", "a"], ["acked"])):
            script = ('source "$1"; name=$2; shift 2; COMP_WORDS=("$name" "$@"); COMP_CWORD=$#; '
                      '"$(complete -p "$name" | sed "s/.*-F \\([^ ]*\\).*/\\1/")"; printf "%s\\n" "${COMPREPLY[@]}"')
            said = checked("bash", "--norc", "-uc", script, "bash", str(self.path("bash-completion/completions", program)),
                           program, *words).split()
            if expected is None:
                self.assertIn("/etc/passwd", said)
            else:
                self.assertEqual(said, expected)

    def test_fish(self):
        for program, line, expected in (
                ("restante", "restante work", ["workspace"]), ("restante", "restante workspace se", ["secret"]),
                ("restante", "restante serve --log-level ", ["debug", "error", "info", "warn"]),
                ("restante", "restante workspace add --mo", ["--mode"]),
                ("restante-client", "restante-client send --wait a", ["acked"])):
            home = self.enterContext(tempfile.TemporaryDirectory())
            said = checked("fish", "--no-config", "-c", f'source {self.path("fish/vendor_completions.d", program + ".fish")}; '
                           f'complete -C "{line}"', env={**os.environ, "HOME": home})
            self.assertEqual([row.split("\t")[0] for row in said.splitlines()], expected, line)

    def test_zsh(self):
        folders = " ".join(str(self.path("zsh/vendor-completions", f"_{name}").parent) for name in ("restante", "restante-client"))
        typed = (("restante work\t", "restante workspace "), ("restante workspace se\t", "restante workspace secret "),
                 ("restante workspace add --mo\t", "add --mode="), ("restante-client send --wait a\t", "--wait acked "))
        with Terminal("zsh", "-f", "-i") as zsh:
            zsh.type(f"PS1='ready> '; fpath=({folders} $fpath); autoload -Uz compinit; compinit -u -D; echo load''ed\n")
            zsh.await_text("loaded")
            for keys, shown in typed:
                zsh.type(keys)
                zsh.await_text(shown)
                zsh.type("\x15")  # forgets the line


class Terminal:
    """A program at a terminal of its own, with a human's patience."""

    def __init__(self, *words):
        self._pid, self._fd = pty.fork()
        if self._pid == 0:
            os.environ.update(TERM="dumb", HOME="/nonexistent", LC_ALL="C.UTF-8")
            os.execvp(words[0], words)
        self._seen = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self._fd)
        os.kill(self._pid, 9)
        os.waitpid(self._pid, 0)

    def type(self, keys):
        self._seen = ""
        os.write(self._fd, keys.encode())

    def await_text(self, text, within=60):
        end = time.monotonic() + within
        while text not in self._seen:
            if not select.select([self._fd], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"{text!r} is not in {self._seen!r}")
            self._seen += os.read(self._fd, 65536).decode(errors="replace")


class Installed(WalkCase):
    """In a tree of its own where that can be made; else unpacked, which a line says."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.said = why_no_tree()
        if cls.said:
            print(f"unpacked instead of installed: {cls.said}")
            return
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="restante-tree-"))
        try:
            cls.tree = DebianTree(folder, cls.dependencies())
        except subprocess.CalledProcessError:
            cls.said = "debootstrap failed, as above; has this machine no way to Debian's archive?"
            print(f"unpacked instead of installed: {cls.said}")

    def test_installed_walked_through_and_purged(self):
        if self.said:
            self.walk(self.serve_unpacked(), lambda base: self.pull(base, lambda *words, **how: checked(
                str(self.client_root / "usr/bin/restante-client"), *words, env={**os.environ, **how})))
            return
        before, users = self.tree.paths(), self.tree.users()
        self.tree.install(*self.debs.values())
        token = self.tree.root / "etc/restante/admin-token"
        self.assertEqual((token.stat().st_mode & 0o777, token.stat().st_uid), (0o640, 0))
        self.assertIn("restante", self.tree.users() - users)
        self.walk(self.serve_installed(), lambda base: self.pull(base, lambda *words, **how: self.tree.run(
            "/usr/bin/restante-client", *words, user="nobody:nogroup", environment=how)))
        kept = token.read_text()
        self.tree.install(*self.debs.values())
        self.assertEqual(token.read_text(), kept, "an upgrade keeps the admin token")
        self.tree.run("dpkg", "--purge", "restante", "restante-client")
        self.assertEqual(self.tree.paths() - before, set())
        self.assertEqual(before - self.tree.paths(), set())
        self.assertEqual(self.tree.users(), users)

    def serve_installed(self):
        unit = Unit(self.tree.root / "lib/systemd/system/restante.service")
        user = f"{unit.value('User')}:{unit.value('Group')}"
        state = f"/var/lib/{unit.value('StateDirectory')}"
        self.tree.run("install", "-d", "-m", unit.value("StateDirectoryMode"), "-o", unit.value("User"), "-g",
                      unit.value("Group"), state)
        return self.tree.command(*unit.command(), user=user, environment=self.addresses())

    def serve_unpacked(self):
        data = self.enterContext(tempfile.TemporaryDirectory(prefix="restante-data-", dir="/var/tmp"))
        os.chmod(data, 0o755)
        token = pathlib.Path(data, "admin-token")  # dpkg's script would make it
        token.write_text("admin-token-of-this-test")
        token.chmod(0o644)
        variables = {**self.addresses(), "RESTANTE_DATA_DIR": f"{data}/restante", "RESTANTE_ADMIN_TOKEN_FILE": str(token)}
        return ["env", *(f"{name}={value}" for name, value in variables.items()), str(self.server_root / "usr/bin/restante"),
                "serve", "--config", str(self.server_root / "etc/restante/restante.conf")]

    def pull(self, base, client):
        home = {"HOME": "/tmp/user", "XDG_CONFIG_HOME": "/tmp/user/config", "XDG_STATE_HOME": "/tmp/user/state"}
        if self.said:
            place = self.enterContext(tempfile.TemporaryDirectory())
            home = {name: value.replace("/tmp/user", place) for name, value in home.items()}
        client("login", "--register", "--server", base, "--name", "t", "--into", f"{home['HOME']}/inbox", **home)
        client("send", "/etc/hostname" if self.said else "/etc/debian_version", **home)
        self.assertRegex(client("pull", "--once", **home), rf"(?m)^{re.escape(home['HOME'])}/inbox/(hostname|debian_version)$")


if __name__ == "__main__":
    unittest.main()
