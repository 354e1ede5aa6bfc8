"""Machines on one private network: a network namespace each, joined by a bridge, so that one can be cut off as by
pulling its cable. Needs root."""

import contextlib
import itertools
import os
import signal
import subprocess

from testbed import is_running

FIRST = 20  # of the subnets 198.18.N.0/24, which are set aside for tests of networks


def ip(*words, check=True):
    return subprocess.run(["ip", *words], check=check, capture_output=True, text=True, timeout=20)


class Network(contextlib.ExitStack):
    """A bridge with an address of our own, so that the test can reach every machine."""

    def __init__(self):
        super().__init__()
        for number in itertools.count(FIRST):
            if number > 250:
                raise AssertionError("no subnet is free")
            self.bridge = f"restante{number}"
            # The name is taken before the addresses, so two tests never share a subnet.
            if ip("link", "add", self.bridge, "type", "bridge", check=False).returncode == 0:
                break
        self.prefix = f"198.18.{number}."
        self.callback(ip, "link", "del", self.bridge, check=False)
        ip("addr", "add", self.prefix + "1/24", "dev", self.bridge)
        ip("link", "set", self.bridge, "up")

    def machine(self, host):
        return self.enter_context(Machine(self, host))


class Machine:
    def __init__(self, network, host):
        self.address = f"{network.prefix}{host}"
        self.namespace = f"{network.bridge}-{host}"
        self._link = f"{network.bridge[8:]}v{host}"
        ip("netns", "add", self.namespace)
        ip("link", "add", self._link, "type", "veth", "peer", "name", "eth0", "netns", self.namespace)
        ip("link", "set", self._link, "master", network.bridge, "up")
        for words in (("link", "set", "lo", "up"), ("addr", "add", f"{self.address}/24", "dev", "eth0"),
                      ("link", "set", "eth0", "up")):
            ip("-n", self.namespace, *words)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGKILL)
        ip("netns", "del", self.namespace, check=False)

    def command(self, *words, user=None):
        """The words, to be run on this machine."""
        become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"] if user else []
        return ["ip", "netns", "exec", self.namespace, *become, *map(str, words)]

    def pids(self):
        return [int(pid) for pid in ip("netns", "pids", self.namespace, check=False).stdout.split()]

    def signal(self, number):
        """To every process of the machine, twice: one that was just started has been missed."""
        for _ in range(2):
            for pid in self.pids():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)

    def is_dead(self):
        return not any(is_running(pid) for pid in self.pids())

    @contextlib.contextmanager
    def cut_off(self):
        """Nothing passes, and nobody is told."""
        ip("link", "set", self._link, "down")
        try:
            yield
        finally:
            ip("link", "set", self._link, "up")

    @contextlib.contextmanager
    def ports_cut_off(self, ports):
        """Only what goes to or comes from these ports of any machine."""
        rules = [("ipproto", "tcp", end, ports, "blackhole") for end in ("dport", "sport")]
        for rule in rules:
            ip("-n", self.namespace, "rule", "add", "pref", "10", *rule)
        # They come after the rule for local addresses, which must not hide them.
        try:
            yield
        finally:
            for _ in rules:
                ip("-n", self.namespace, "rule", "del", "pref", "10")
