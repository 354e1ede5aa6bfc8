"""What happens to the cluster. Each breaks one thing, waits until uploads are stored again, and repairs it."""

import contextlib
import os
import signal
import time

from http_wire import await_true

AGAIN = 120  # seconds until something can be stored
LONG = 30  # a partition outlasts Patroni's ttl


class Events:
    def __init__(self, bed, outage):
        self.bed, self.patroni, self.outage = bed, bed.patroni, outage

    def _stored_again(self):
        self.outage.wait_for_all(AGAIN)

    def kill_postgres(self):
        """kill -9 of the primary's PostgreSQL, all of it."""
        primary = self.patroni.primary()
        victims = primary.postgres_pids()
        os.kill(victims[0], signal.SIGSTOP)  # or it would start more children meanwhile
        for victim in reversed(primary.postgres_pids()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
        self._stored_again()

    def kill_node(self):
        """kill -9 of everything on the primary's machine."""
        primary = self.patroni.primary()
        self._kill(primary)
        self._stored_again()
        primary.start()

    def _kill(self, node):
        node.machine.signal(signal.SIGKILL)
        await_true(node.machine.is_dead, 20, f"{node.name} is dead")

    def switch_over(self):
        self.patroni.switch_over()
        self._stored_again()

    def freeze_primary(self):
        """Every process of the machine stops, and goes on when another one is the primary."""
        machine = self.patroni.primary().machine
        machine.signal(signal.SIGSTOP)
        try:
            self._stored_again()
        finally:
            machine.signal(signal.SIGCONT)

    def stall_standby_then_kill_primary(self):
        """Commits wait for a standby that has not got them, and then the only machine that has is gone.

        The standby is killed and not continued: it would read the commits from the buffer of its socket."""
        primary, standby = self.patroni.primary(), self.patroni.synchronous()
        standby.signal_postgres(signal.SIGSTOP)
        try:
            time.sleep(6)
            self._kill(primary)
        finally:
            standby.signal_postgres(signal.SIGKILL)  # Patroni starts it again
        self._stored_again()
        primary.start()

    def partition_primary(self):
        with self.patroni.primary().machine.cut_off():
            self._stored_again()

    def partition_standby(self):
        with self.patroni.synchronous().machine.cut_off():
            self._stored_again()
            time.sleep(5)

    def partition_etcd(self):
        """No machine reaches any etcd: nobody may remain the primary."""
        with contextlib.ExitStack() as cut:
            for node in self.patroni.nodes:
                cut.enter_context(node.machine.ports_cut_off("2379-2380"))
            time.sleep(LONG)
        self._stored_again()

    def partition_etcd_of_primary(self):
        with self.patroni.primary().machine.ports_cut_off("2379-2380"):
            self._stored_again()
            time.sleep(LONG)
        self._stored_again()

    def partition_server(self):
        """The first server is cut off; the second goes on."""
        with self.bed.machines[0].cut_off():
            self.outage.wait_for_all(AGAIN, self.outage.servers[1:])
            time.sleep(10)
        self._stored_again()


# Of the table and beyond, in order.
ALL = ("kill_postgres", "kill_node", "switch_over", "freeze_primary", "stall_standby_then_kill_primary",
       "partition_primary", "partition_standby", "partition_etcd", "partition_etcd_of_primary", "partition_server")
SHORT = ("switch_over", "kill_postgres")
# Where a server itself is cut off, it has no times to judge; the others have. By the server's index.
OWN_FAULT = {"partition_server": 0}
