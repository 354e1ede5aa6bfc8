"""The place of a soak: a cluster, a proxy on each side of the server, workspaces, and the course of a run."""

import collections
import contextlib
import queue
import threading
import time

from checker import Checker
from clients import Collector, Listener, Poller, Uploader
from http_wire import await_true
from journal import Journal
from nemesis import Nemesis
from pg_client import Session
from pg_proxy import PostgresProxy
from proxy import Proxy
from server_process import Server
from testbed import Cluster, Database

WORKSPACES, UPLOADERS, COLLECTORS = 4, 6, 3
FINISH = 120  # seconds for clients to finish what they began; usually a few are enough


class Bed(contextlib.ExitStack):
    empty = queue.Empty

    def __init__(self, seed, pace, say=print, binary=None):
        """`pace` is the mean pause of an uploader between two forms, in seconds. It decides how much is stored in the
        end: at 1 s about 3 MB a second."""
        super().__init__()
        self.seed, self.pace, self.say = seed, pace, say
        self.journal = Journal()
        self.stop, self.give_up = threading.Event(), threading.Event()
        self.settled, self.polled = threading.Event(), threading.Event()
        self.heads = {}
        with contextlib.ExitStack() as made:
            self.cluster = made.enter_context(Cluster())
            self.database = made.enter_context(Database(self.cluster.conninfo))
            self.database_proxy = made.enter_context(PostgresProxy(self.database.conninfo))
            self.server = made.enter_context(Server(self.database_proxy.conninfo, binary=binary))
            self.client_proxy = made.enter_context(Proxy(self.server.address))
            self.address = ("127.0.0.1", self.client_proxy.port)
            self.server.wait_ready()
            self.workspaces = [self.database.add_workspace() for _ in range(WORKSPACES)]
            self.push(made.pop_all().__exit__)

    def session(self):
        return Session(self.database.conninfo)

    def restart_server(self):
        self.server.start()
        self.client_proxy.upstream = self.server.address

    def run(self, seconds):
        """The whole course; the findings by kind."""
        nemesis = Nemesis(self)
        found = queue.Queue()
        uploaders = [Uploader(f"up{i}", self) for i in range(UPLOADERS)]
        pollers = [Poller(f"poll{i}", self, workspace, 100, found)
                   for i, workspace in enumerate(self.workspaces)]
        # A second reader of the same feed, in pages of another size: pages must not matter.
        pollers += [Poller(f"peek{i}", self, workspace, 7) for i, workspace in enumerate(self.workspaces[:2])]
        collectors = [Collector(f"get{i}", self, found) for i in range(COLLECTORS)]
        listeners = [Listener(f"hear{i}", self, workspace) for i, workspace in enumerate(self.workspaces)]
        threads = (*uploaders, *pollers, *collectors, *listeners, nemesis)
        for thread in threads:
            thread.start()
        self.watch(seconds, threads)
        self.stop.set()
        nemesis.join()
        self.database_proxy.arm(None)
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

    def watch(self, seconds, threads):
        """Waits, and ends early when something in the harness itself broke."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not any(thread.failure for thread in threads):
            time.sleep(0.2)

    def finish(self, uploaders, pollers, collectors):
        """Uploaders first; then it is known how far the feeds reach; then readers; then those who fetch."""
        for uploader in uploaders:
            uploader.join()
        # What a frozen link still holds open is over before the heads are read.
        self.database_proxy.cut()
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
        self.server.wait_ready()
        self.server.log_lines()  # every line is one JSON object, whatever happened
        await_true(lambda: not self.server.spool_files(), 10, "the spool is empty")
        await_true(lambda: self.server.client_connections() == 0, 70, "clients' connections are closed")
        verdicts = [upload.verdict() for upload in self.journal.uploads]
        self.say(f"uploads: {len(verdicts)}, {dict(collections.Counter(verdicts))}; fetched "
                 f"{self.journal.fetched}, acked {len(self.journal.acked)}, events "
                 f"{sum(map(len, self.journal.heard.values()))} on {len(self.journal.heard)} sockets; "
                 f"faults: {nemesis.done}")
        return Checker(self.database.session, self.journal).run()
