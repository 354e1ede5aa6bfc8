"""The faults. Each is a method without arguments that breaks one thing and, unless it recovers by itself,
repairs it before returning; the checker determines whether anything was lost. Time limits are checked
here."""

import contextlib
import datetime
import os
import resource
import signal
import time

import crowds
import neighbours
import stalls
from http_wire import await_true
from pg_client import DatabaseError
from pg_proxy import CUTS, Strike
from probe import Probe

AWAY_SECONDS, TOLD_WITHIN, READY_WITHIN = 20, 2, 3
FREE_WITHIN = 15  # a workspace locked by a frozen server must be usable again
MISSED = "missed"  # the moment for the fault did not occur; not counted
JUMP = datetime.timedelta(hours=25)


class Faults:
    def __init__(self, bed, random, slack=1):
        self.bed, self.random, self.slack = bed, random, slack
        self.probe = Probe("probe", bed, bed.steady)

    def limit(self, what, seconds, most):
        """Reports a finding if something took longer than it may."""
        if seconds is None or seconds > most * self.slack:
            took = "did not come" if seconds is None else f"took {seconds:.1f} s"
            self.bed.journal.violate("late", f"{what} {took}, at most {most} s are allowed")

    # The server.

    def kill_server(self):
        self.bed.victim.server.kill()
        time.sleep(self.random.uniform(0, 0.3))
        self.bed.victim.restart()

    def freeze_server_in_commit(self):
        """Stopped before its COMMIT was sent, and resumed after some seconds."""
        return self._freeze_in_commit(lambda: time.sleep(self.random.uniform(0.2, 4)))

    def freeze_server_for_long(self):
        """Stopped before its COMMIT was sent, and kept stopped: others must be able to use the same
        workspace."""
        def ask_the_other():
            begun = time.monotonic()
            for workspace in self.bed.workspaces:
                self.probe.upload_until_stored(workspace)
            seconds = time.monotonic() - begun
            self.limit("uploads beside a frozen server", seconds, FREE_WITHIN)
            self.bed.say(f"server frozen in its COMMIT: every workspace free after {seconds:.1f} s")
        return self._freeze_in_commit(ask_the_other)

    def _freeze_in_commit(self, meanwhile):
        victim = self.bed.victim
        victim.database_proxy.arm(Strike.HOLD_BEFORE_COMMIT)
        if not victim.database_proxy.struck.wait(10):
            victim.database_proxy.arm(None)
            return MISSED
        victim.server.process.send_signal(signal.SIGSTOP)
        try:
            meanwhile()
        finally:
            victim.server.process.send_signal(signal.SIGCONT)
            victim.database_proxy.release()
        return None

    def jump_clock(self):
        """The server's clock jumps 25 h forward or back, the database's does not. Files and polls must not be
        affected."""
        by, since = self.random.choice((JUMP, -JUMP)), self.bed.steady.server.log_size()
        day = str((datetime.datetime.now(datetime.timezone.utc) + by).date())
        with self.bed.clock.shifted(by):
            self.limit("a poll of 1 s after the jump", self.probe.poll(self.bed.workspaces[0], 1), 1 + 3)
            self.limit("an upload after the jump", self.probe.upload_until_stored(self.bed.workspaces[0]), 3)
            await_true(lambda: any(line["ts"].startswith(day) for line in self.bed.steady.server.log_lines(since)),
                       10, f"the server's log is of {day}")
        self.limit("a poll of 1 s after the jump back", self.probe.poll(self.bed.workspaces[0], 1), 1 + 3)

    # PostgreSQL.

    def terminate_one_session(self):
        self._terminate("LIMIT 1")

    def terminate_all_sessions(self):
        self._terminate("")

    def _terminate(self, limit):
        with self.bed.session() as session:
            session.query("SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity WHERE "
                          f"application_name LIKE 'restante%' ORDER BY random() {limit}) AS victims")

    def kill_backend(self):
        """kill -9 for one backend, a busy one if there is one. PostgreSQL then ends all of them and runs
        crash recovery."""
        with self.bed.session() as session:
            victim = session.value("SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'restante%' "
                                   "ORDER BY state = 'active' DESC, random() LIMIT 1")
        if victim:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(victim), signal.SIGKILL)
        self._await_postgres()

    def kill_postgres(self):
        self.bed.cluster.kill()
        time.sleep(self.random.uniform(0, 0.5))
        self.bed.cluster.start()

    def restart_postgres(self):
        self.bed.cluster.stop(self.random.choice(("immediate", "fast")))
        time.sleep(self.random.uniform(0, 1.5))
        self.bed.cluster.start()

    def stop_postgres(self):
        """For 20 s. Requests meanwhile get 503 within 2 s; the server is ready within 3 s of its return."""
        self.bed.cluster.stop("fast")
        slowest, asked, end = 0, 0, time.monotonic() + AWAY_SECONDS
        while time.monotonic() < end:
            status, seconds = self.probe.upload()
            slowest, asked = max(slowest, seconds), asked + 1
            if status != 503:
                self.bed.journal.violate("refused", f"{status} instead of 503 while PostgreSQL is stopped")
            time.sleep(0.25)
        self.limit("the slowest 503", slowest, TOLD_WITHIN)
        self.bed.cluster.start()
        begun = time.monotonic()
        await_true(lambda: self.bed.steady.server.get("/readyz").status == 200, 30, "/readyz says 200")
        ready = time.monotonic() - begun
        self.limit("/readyz", ready, READY_WITHIN)
        self.bed.say(f"stopped {AWAY_SECONDS} s: asked {asked} times, slowest answer {slowest:.2f} s; ready "
                     f"{ready:.2f} s after its return")

    def _await_postgres(self):
        """Waits until it accepts new sessions and keeps them."""
        def works():
            try:
                with self.bed.session() as session:
                    return session.value("SELECT NOT pg_is_in_recovery()") == "t"
            except (OSError, DatabaseError):
                return False
        await_true(works, 60, "PostgreSQL has recovered")

    def fill_disk(self):
        """The disk stays full until several uploads were rejected. Some may still fit into space that
        PostgreSQL had already allocated; each response must be correct."""
        self.bed.disk.fill()
        heard = {}
        try:
            for _ in range(100):
                if heard.get(503, 0) >= 5:
                    break
                status, seconds = self.probe.upload()
                heard[status] = heard.get(status, 0) + 1
                self.limit("an answer while the disk is full", seconds, 10)
                time.sleep(0.4)
        finally:
            self.bed.disk.empty()
        # PostgreSQL exits if it cannot write its WAL; its operator restarts it.
        died = not self.bed.cluster.alive()
        if died:
            self.bed.cluster.start()
        self._await_postgres()
        if 503 not in heard:
            raise AssertionError(f"the disk was full and nobody noticed: {heard}")
        self.bed.say(f"disk full: answers {heard}, PostgreSQL {'ended' if died else 'went on'}")

    # What commits wait for.

    def stall_standby(self):
        """Its link is silent for a moment; commits wait, and go on."""
        with self.bed.standby.stalled():
            time.sleep(self.random.uniform(0.2, 4))

    def stall_standby_for_long(self):
        stalls.stall_standby(self, seconds=12)

    def lock_workspace(self):
        stalls.lock_workspace(self, seconds=10, uploaders=60)

    # Network.

    def _some_line(self):
        return self.random.choice(self.bed.replicas).database_proxy

    def cut_database_links(self):
        self._some_line().cut(reset=self.random.random() < 0.5)

    def strike_at_commit(self):
        line = self._some_line()
        line.arm(self.random.choice(CUTS))
        return None if line.struck.wait(3) else MISSED

    def half_open_database(self):
        with self._half_open(self._some_line()):
            time.sleep(self.random.uniform(0.5, 3))

    def half_open_client_lines(self):
        with self._half_open(self.random.choice(self.bed.replicas).client_proxy):
            time.sleep(self.random.uniform(0.5, 3))

    @contextlib.contextmanager
    def _half_open(self, line):
        line.conditions.half_open = True
        try:
            yield
        finally:
            line.cut()
            line.conditions.half_open = False

    def slow_database(self):
        self._slow_down(self._some_line())

    def slow_client_lines(self):
        self._slow_down(self.random.choice(self.bed.replicas).client_proxy)

    def _slow_down(self, proxy):
        line = proxy.conditions
        line.latency, line.slice = self.random.uniform(0.001, 0.02), self.random.choice((None, 700, 9000))
        line.bandwidth = self.random.choice((None, 400_000, 4_000_000))
        time.sleep(self.random.uniform(0.5, 2))
        line.latency, line.slice, line.bandwidth = 0.0, None, None

    def cut_clients(self):
        for _ in range(self.random.randint(1, 5)):
            self.random.choice(self.bed.replicas).client_proxy.cut(reset=self.random.random() < 0.5)
            time.sleep(self.random.uniform(0, 0.2))

    # Clients.

    def abort_clients(self):
        crowds.abort(self.bed, self.random, 50)

    def crowd_of_slow_clients(self):
        crowds.drip(self, count=2000, seconds=20)

    def small_crowd_of_slow_clients(self):
        crowds.drip(self, count=300, seconds=6)

    def more_clients_than_descriptors(self):
        crowds.hold_open(self.bed, count=300, seconds=3)

    def run_out_of_descriptors(self):
        """Lowers the limit to the number of open descriptors: nothing can be accepted, spooled or connected
        until it is raised."""
        server = self.bed.steady.server
        before = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (len(server.descriptors()) + 1, before[1]))
        try:
            crowds.hold_open(self.bed, count=20, seconds=self.random.uniform(1, 3))
        finally:
            resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, before)

    def crowd_of_large_uploads(self):
        crowds.send_large(self, count=64)

    def small_crowd_of_large_uploads(self):
        crowds.send_large(self, count=12)

    def hoard_memory(self):
        neighbours.hoard_memory(self, seconds=4, count=60)

    def crowd_out(self):
        neighbours.crowd_out(self, seconds=5, connections=64, downloads=80, strangers=320)
