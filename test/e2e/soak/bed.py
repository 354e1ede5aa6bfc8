"""The environment of a soak: a cluster, servers with a proxy on either side, workspaces, and the phases of a
run."""

import collections
import contextlib
import itertools
import queue
import threading
import time

from checker import Checker
from clients import Collector, Listener, Poller, Uploader
from http_wire import await_true
from journal import Journal
from pg_client import DatabaseError, Session
from pg_proxy import PostgresProxy
from proxy import Proxy
from server_process import Server
from standby import Standby
from stores import STORES
from testbed import Cluster, Database

WORKSPACES, UPLOADERS, COLLECTORS = 4, 6, 3
FINISH = 120  # seconds for clients to complete pending work; usually a few are enough

# Sweeps run, and often; but acked files are kept, because the checker looks for them at the end.
FLAGS = ("--sweep-interval", "10s", "--ack-retention", "7d")


class Replica(contextlib.ExitStack):
    """One server, the proxy between it and PostgreSQL, and the one between it and its clients."""

    def __init__(self, conninfo, binary, *flags):
        super().__init__()
        with contextlib.ExitStack() as made:
            self.database_proxy = made.enter_context(PostgresProxy(conninfo))
            self.server = made.enter_context(Server(self.database_proxy.conninfo, *flags, binary=binary))
            self.client_proxy = made.enter_context(Proxy(self.server.address))
            self.address = ("127.0.0.1", self.client_proxy.port)
            self.server.wait_ready()
            self.push(made.pop_all().__exit__)

    def restart(self):
        self.server.start()
        self.client_proxy.upstream = self.server.address


class Bed(contextlib.ExitStack):
    empty = queue.Empty

    def __init__(self, seed, pace, say=print, binary=None, flags=(), replicas=1, disk=None, clock=None,
                 standby=False, store="inline"):
        """`pace` is an uploader's mean pause between two forms, in seconds. It determines how much is stored
        in the end: at 1 s about 3 MB a second. `disk` puts data or WAL on a small disk; `clock` is the
        servers' clock; with `standby` every commit waits for a second PostgreSQL; `store` is one of stores.py."""
        super().__init__()
        self.seed, self.pace, self.say = seed, pace, say
        self.disk, self.clock = disk, clock
        self.journal = Journal()
        self.stop, self.give_up = threading.Event(), threading.Event()
        self.settled, self.polled = threading.Event(), threading.Event()
        self.heads = {}
        with contextlib.ExitStack() as made:
            self.cluster = made.enter_context(Cluster())
            self.standby = made.enter_context(Standby(self.cluster)) if standby else None
            options = made.enter_context(disk).attach(self.cluster) if disk else ""
            self.database = made.enter_context(Database(self.cluster.conninfo, options))
            self.contents = made.enter_context(STORES[store]())
            flags = (*self.contents.flags, *flags)
            self.replicas = [made.enter_context(Replica(self.database.conninfo, binary, *FLAGS, *flags))
                             for _ in range(replicas)]
            self.workspaces = [self.database.add_workspace() for _ in range(WORKSPACES)]
            self.neighbour = self.database.add_workspace()  # that of clients who take what they can get
            self.push(made.pop_all().__exit__)
        self._addresses = itertools.cycle([replica.address for replica in self.replicas])
        # The nemesis may kill or freeze the last one; of two, the first runs to the end and can be measured.
        self.steady, self.victim = self.replicas[0], self.replicas[-1]

    @property
    def address(self):
        """Where a client connects next: round-robin over the replicas, as with a load balancer."""
        return next(self._addresses)

    def session(self, within=60):
        """A session that bypasses the proxies; waits while PostgreSQL is starting."""
        end = time.monotonic() + within
        while True:
            try:
                return Session(self.database.conninfo)
            except (OSError, DatabaseError):
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def run(self, nemesis, seconds=None):
        """The whole run; returns the findings by kind. Lasts `seconds`, or as long as the nemesis has
        plans."""
        found = queue.Queue()
        uploaders = [Uploader(f"up{i}", self) for i in range(UPLOADERS)]
        pollers = [Poller(f"poll{i}", self, workspace, 100, found)
                   for i, workspace in enumerate(self.workspaces)]
        # A second reader of the same feed with another page size: page size must not matter.
        pollers += [Poller(f"peek{i}", self, workspace, 7) for i, workspace in enumerate(self.workspaces[:2])]
        collectors = [Collector(f"get{i}", self, found) for i in range(COLLECTORS)]
        listeners = [Listener(f"hear{i}", self, workspace) for i, workspace in enumerate(self.workspaces)]
        threads = (*uploaders, *pollers, *collectors, *listeners, nemesis)
        for thread in threads:
            thread.start()
        self.watch(seconds, threads, nemesis)
        self.stop.set()
        nemesis.join()
        if nemesis.failure:
            raise nemesis.failure
        for replica in self.replicas:
            replica.database_proxy.arm(None)
        deadline = threading.Timer(FINISH, self.give_up.set)
        deadline.start()
        self.finish(uploaders, pollers, collectors)
        for listener in listeners:
            listener.join()
        deadline.cancel()
        for thread in threads:
            if thread.failure:
                raise thread.failure
        if self.give_up.is_set():
            raise AssertionError(f"clients did not finish within {FINISH} s")
        return self.conclude(nemesis)

    def watch(self, seconds, threads, nemesis):
        """Waits, and ends early if the harness itself fails."""
        end = time.monotonic() + seconds if seconds is not None else None
        while not any(thread.failure for thread in threads):
            if not nemesis.is_alive() if end is None else time.monotonic() > end:
                return
            time.sleep(0.2)

    def finish(self, uploaders, pollers, collectors):
        """Uploaders first, which fixes the ends of the feeds; then pollers; then collectors."""
        for uploader in uploaders:
            uploader.join()
        # Transactions held open by a frozen link have ended before the heads are read.
        for replica in self.replicas:
            replica.database_proxy.cut()
        self.database.reconnect()
        await_true(lambda: not self.database.session.query(
            "SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'restante%' AND xact_start < now() - "
            "interval '0.2 s' AND state <> 'idle'"), 40, "transactions ended")
        self.heads = {workspace: int(seq) for workspace, seq in
                      self.database.session.query("SELECT workspace_id, seq FROM activity_heads")}
        self.settled.set()
        for poller in pollers:
            poller.join()
        self.polled.set()
        for collector in collectors:
            collector.join()

    def conclude(self, nemesis):
        for replica in self.replicas:
            server = replica.server
            server.wait_ready()
            server.log_lines()  # checks that every line is one JSON object
            await_true(lambda: not server.spool_files(), 10, "the spool is empty")
            await_true(lambda: server.client_connections() == 0, 70, "clients' connections are closed")
        verdicts = [upload.verdict() for upload in self.journal.uploads]
        self.say(f"uploads: {len(verdicts)}, {dict(collections.Counter(verdicts))}; fetched "
                 f"{self.journal.fetched}, acked {len(self.journal.acked)}, events "
                 f"{sum(map(len, self.journal.heard.values()))} on {len(self.journal.heard)} sockets; "
                 f"faults: {nemesis.done}")
        # Each may have left the bytes of what was under way: at most four files of each uploader leave their rows.
        crashes = sum(nemesis.done.values())
        return Checker(self.database.session, self.journal, self.contents, crashes).run()
