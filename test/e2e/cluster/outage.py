"""For how long could nothing be written: to the database itself, and to each server. The difference is the server's
share."""

import contextlib
import threading
import time

from pg_client import DatabaseError, Session
from probe import Probe

PAUSE = 0.05
PATIENCE = 3  # seconds for one attempt on the database


class Successes:
    """Moments, of which the longest gap counts."""

    def __init__(self):
        self._guard, self._moments = threading.Lock(), []

    def add(self):
        with self._guard:
            self._moments.append(time.monotonic())

    def longest_gap(self, since, until):
        with self._guard:
            inside = [moment for moment in self._moments if since <= moment <= until]
        bounds = [since, *sorted(inside), until]
        return max(after - before for before, after in zip(bounds, bounds[1:]))

    def since(self, moment):
        with self._guard:
            return sum(each >= moment for each in self._moments)


class DatabaseProbe(threading.Thread):
    """Commits on one host for as long as that is the primary, with the same promise as the server's sessions."""

    def __init__(self, node, successes, stop):
        super().__init__(name=f"commit on {node.name}", daemon=True)
        self._node, self._successes, self._stop_asked = node, successes, stop

    def run(self):
        while not self._stop_asked.is_set():
            with contextlib.suppress(OSError, DatabaseError):
                with Session(self._node.conninfo(), timeout=PATIENCE) as session:
                    self._commit_on(session)
            self._stop_asked.wait(PAUSE)

    def _commit_on(self, session):
        while not self._stop_asked.is_set():
            session.query("UPDATE outage_probe SET at = now()")
            self._successes.add()
            self._stop_asked.wait(PAUSE)


class ServerProbe(threading.Thread):
    """Small uploads to one server, one after the other, each once."""

    def __init__(self, bed, index, successes, stop):
        super().__init__(name=f"upload to server {index + 1}", daemon=True)
        self._probe = Probe(f"probe{index}", bed, bed.replicas[index])
        self._successes, self._stop_asked = successes, stop
        self._workspace = bed.workspaces[index]
        self._guard, self._answers, self._asked_at, self.failure = threading.Lock(), [], None, None

    def run(self):
        try:
            while not self._stop_asked.is_set():
                self._upload()
                self._stop_asked.wait(PAUSE)
        except Exception as failure:
            self.failure = failure

    def _upload(self):
        with self._guard:
            self._asked_at = time.monotonic()
        status, seconds = self._probe.upload(self._workspace)
        if status == 200:
            self._successes.add()
        with self._guard:
            self._answers.append((self._asked_at, seconds))
            self._asked_at = None

    def slowest(self, since):
        """Of the uploads begun since then. One without an answer counts for as long as it was waited for, and so does
        one that still waits."""
        with self._guard:
            waits = [seconds for asked_at, seconds in self._answers if asked_at >= since]
            if self._asked_at is not None and self._asked_at >= since:
                waits.append(time.monotonic() - self._asked_at)
        return max(waits, default=0)


class Outage(contextlib.ExitStack):
    """Runs the probes while it is open."""

    def __init__(self, bed):
        super().__init__()
        with bed.session() as session:
            session.query("CREATE TABLE outage_probe AS SELECT now() AS at")
        self._stop = threading.Event()
        self.database = Successes()
        self.servers = [Successes() for _ in bed.servers]
        self._probes = [ServerProbe(bed, i, successes, self._stop) for i, successes in enumerate(self.servers)]
        threads = [DatabaseProbe(node, self.database, self._stop) for node in bed.patroni.nodes] + self._probes
        for thread in threads:
            thread.start()
            self.callback(thread.join)
        self.callback(self._stop.set)

    def wait_for_all(self, within, servers=None):
        """Until database and servers have taken some more."""
        wanted, begun = [self.database, *(servers or self.servers)], time.monotonic()
        while not all(each.since(begun) >= 3 for each in wanted):
            for probe in self._probes:
                if probe.failure:
                    raise probe.failure
            if time.monotonic() > begun + within:
                raise AssertionError(f"nothing could be stored for {within} s")
            time.sleep(0.05)

    def slowest_answers(self, since):
        """Of each server."""
        return [probe.slowest(since) for probe in self._probes]
