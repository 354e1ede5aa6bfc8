#!/usr/bin/env python3
"""The service under systemd itself: in a Debian that is booted in a container, the package starts it, confined as its unit
says; it reloads, comes back after a crash, stops in order, and is gone after a purge."""

import re
import subprocess
import tempfile
import unittest

from booted_tree import BootedTree, why_no_boot
from debian_tree import DebianTree
from http_wire import await_true
from package_case import WalkCase, checked, tearDownModule, why_no_tree  # noqa: F401

NET_BIND_SERVICE = 1 << 10
BASE = "http://127.0.0.1:8088"


class Service(WalkCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        why_not = why_no_tree() or why_no_boot()
        if not why_not:
            folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="restante-tree-"))
            try:
                cls.tree = DebianTree(folder, cls.dependencies())
            except subprocess.CalledProcessError:
                why_not = "debootstrap failed, as above; has this machine no way to Debian's archive?"
        if why_not:
            raise unittest.SkipTest(f"NOT RUN: the service under systemd: {why_not}")

    def setUp(self):
        try:
            self.machine = self.enterContext(BootedTree(self.tree, *self.debs.values()))
        except AssertionError as problem:
            self.skipTest(f"NOT RUN: systemd does not come up in a container here: {problem}")

    def control(self, *words):
        return self.machine.checked("systemctl", *words)

    def show(self, what):
        return self.control("show", "--property", what, "--value", "restante")

    def journal(self):
        return self.machine.checked("journalctl", "--no-pager", "--output=cat", "--unit=restante")

    def await_ready(self, times):
        await_true(lambda: self.journal().count("restante ready") >= times, 90, f"it is ready {times} times")

    def status_of(self, pid):
        return dict(re.findall(r"^(\w+):\s+(.*)$", self.machine.checked("cat", f"/proc/{pid}/status"), re.MULTILINE))

    def test_a_life_of_the_service(self):
        self.machine.checked("dpkg", "--install", f"/opt/{self.debs['restante'].name}")
        self.assertEqual(self.control("is-enabled", "restante"), "enabled")
        self.await_ready(1)
        told = checked(*self.machine.enter("--net"), "curl", "-ksS", "-m", "20", "https://127.0.0.1:8443/readyz")
        self.assertEqual(told, '{"status":"ready"}')
        self.check_confinement()
        self.check_reload()
        self.check_crash()
        self.walk_through(BASE, self.machine.enter("--net"))
        self.check_commands()
        self.check_stop()
        self.machine.checked("dpkg", "--purge", "restante")
        self.assertIn("could not be found", self.machine.run("systemctl", "status", "restante")[1])
        self.assertEqual(self.machine.run("getent", "passwd", "restante")[1], "")
        for path in ("/var/lib/restante", "/etc/restante"):
            self.assertNotEqual(self.machine.run("test", "-e", path)[0], 0, path)

    def check_confinement(self):
        """Of the server, and of the PostgreSQL that it runs."""
        pids = self.machine.checked("pgrep", "-u", "restante").split()
        self.assertGreater(len(pids), 3, "the server and its PostgreSQL")
        main = self.show("MainPID")
        user = self.machine.checked("id", "-u", "restante")
        for pid in (main, next(pid for pid in pids if pid != main)):
            told = self.status_of(pid)
            self.assertEqual((told["Uid"].split()[0], told["NoNewPrivs"], told["Seccomp"]), (user, "1", "2"), told)
            self.assertEqual({int(told[name], 16) for name in ("CapEff", "CapPrm", "CapBnd")}, {NET_BIND_SERVICE}, told)
            for path, writable in (("/usr", False), ("/etc/restante", False), ("/var/lib/restante", True), ("/var/tmp", True)):
                code, said = self.machine.run("nsenter", "--target", pid, "--mount", "touch", f"{path}/written")
                self.assertEqual(code == 0, writable, f"{path}: {said}")
            self.assertEqual(self.machine.run("nsenter", "--target", pid, "--mount", "ls", "/root", "/home")[1],
                             "/home:\n\n/root:\n")

    def check_reload(self):
        """Without a new process. What cannot change is named."""
        main = self.show("MainPID")
        self.machine.checked("sh", "-c", f"printf 'registration = open\\nlisten = {BASE[7:]}\\n' >>/etc/restante/more && "
                             "grep -v '^listen = ' /etc/restante/restante.conf >>/etc/restante/more && "
                             "mv /etc/restante/more /etc/restante/restante.conf && chmod 0644 /etc/restante/restante.conf")
        self.control("reload", "restante")
        await_true(lambda: '"settings_reloaded"' in self.journal(), 30, "it has read its settings again")
        self.assertRegex(self.journal(), r'"settings_need_restart".*"listen"')
        self.assertEqual(self.show("MainPID"), main)

    def check_crash(self):
        """It is started again, with what was stored, and now listens where the new settings say."""
        main = self.show("MainPID")
        self.control("kill", "--signal=KILL", "--kill-who=main", "restante")
        self.await_ready(2)
        self.assertNotEqual(self.show("MainPID"), main)
        self.assertEqual(self.show("NRestarts"), "1")

    def check_commands(self):
        """Those of docs/operations.md, with the settings of the service and as its user."""
        told = self.machine.checked("runuser", "-u", "restante", "--", "restante", "status", "--config",
                                    "/etc/restante/restante.conf")
        self.assertIn("Waiting ", told)

    def check_stop(self):
        self.control("stop", "restante")
        self.assertEqual((self.show("Result"), self.show("ExecMainStatus"), self.show("ActiveState")), ("success", "0", "inactive"))
        self.assertEqual(self.machine.run("pgrep", "-u", "restante")[1], "", "nothing of it runs on")
        self.control("start", "restante")
        self.await_ready(3)


if __name__ == "__main__":
    unittest.main()
