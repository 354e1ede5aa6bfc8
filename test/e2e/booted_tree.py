"""The minimal Debian of debian_tree.py with its systemd running, in a container of systemd-nspawn. It has a network of its
own, which is loopback alone, and forgets at the end whatever was written."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess

from http_wire import await_true


class BootedTree:
    def __init__(self, tree, *shared):
        """`shared` are files that are found in /opt inside."""
        binds = [f"--bind-ro={path}:/opt/{pathlib.Path(path).name}" for path in shared]
        self._nspawn = subprocess.Popen(
            ["systemd-nspawn", "--quiet", "--directory", str(tree.root), "--volatile=overlay", "--private-network",
             "--register=no", "--keep-unit", "--console=pipe", *binds, "--boot"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self._init = None

    def __enter__(self):
        try:
            await_true(self._is_up, 90, "systemd inside")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        # With the first process all of the container ends; systemd-nspawn, killed, would leave it behind.
        with contextlib.suppress(ProcessLookupError):
            if self._init:
                os.kill(int(self._init), signal.SIGKILL)
            else:
                self._nspawn.terminate()
        try:
            self._nspawn.communicate(timeout=30)
        finally:
            self._nspawn.kill()

    def _is_up(self):
        if self._nspawn.poll() is not None:
            raise AssertionError(f"systemd-nspawn ended:\n{self._nspawn.stdout.read().decode(errors='replace')[-2000:]}")
        children = pathlib.Path(f"/proc/{self._nspawn.pid}/task/{self._nspawn.pid}/children").read_text().split()
        self._init = children[0] if children else None
        return self._init and self.run("systemctl", "is-system-running")[1].strip() in ("running", "degraded")

    def enter(self, *namespaces):
        """The words that bring a command of this machine into namespaces of the container: "--net", or all of them."""
        return ["nsenter", "--target", self._init, *(namespaces or ["--all"])]

    def run(self, *words):
        """(exit code, everything that it said)."""
        done = subprocess.run([*self.enter(), "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", *words], text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, cwd="/")
        return done.returncode, done.stdout

    def checked(self, *words):
        code, said = self.run(*words)
        if code != 0:
            raise AssertionError(f"{words} ended with {code}:\n{said}\n{self.run('journalctl', '--no-pager', '-n', '40')[1]}")
        return said.strip()


def why_no_boot():
    return None if shutil.which("systemd-nspawn") else "there is no systemd-nspawn (Debian's systemd-container)"
