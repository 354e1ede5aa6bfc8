#!/usr/bin/env python3
"""The database connection fails at the worst moments. Every response must be correct: 200 means stored; 503
means not stored, unless it says that this is unknown. And retrying under the same key never creates a second
row."""

import hashlib
import itertools
import signal
import threading
import time
import unittest

from forms import PLAIN, form, noise, part
from http_wire import await_true
from pg_client import format_conninfo, parse_conninfo
from pg_proxy import PostgresProxy, Strike, upstream_of
from proxy import Proxy
from server_process import Server
from testbed import Cluster, Database, upload

KIB, MIB = 1024, 1024 * 1024
SMALL, LARGE = 2000, 2 * MIB
# Each request is served by a random shard; with this many, several shards are reached.
IN_A_ROW = 40


def two_files(content):
    return form(part(content), part("second"))


class Timed:
    """An upload in its own thread: its response, and how long it took."""

    def __init__(self, *arguments, **named):
        self._thread = threading.Thread(target=self._run, args=(arguments, named))
        self._begun = time.monotonic()
        self._thread.start()

    def _run(self, arguments, named):
        self.answer = upload(*arguments, **named)
        self.seconds = time.monotonic() - self._begun

    def join(self):
        self._thread.join()
        return self.answer


class LostCommit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.db = cls.enterClassContext(Database())
        cls.proxy = cls.enterClassContext(PostgresProxy(cls.db.conninfo))
        cls.server = cls.enterClassContext(Server(cls.proxy.conninfo, "--db-connections", "8"))
        cls.server.wait_ready()

    def setUp(self):
        # The previous test may have left the server without a database for a moment.
        self.workspace = self.db.add_workspace()
        await_true(lambda: self.post(b"here").status == 200, 15, "the server has recovered")
        self.workspace = self.db.add_workspace()

    def post(self, content, key=None, workspace=None):
        headers = [("Idempotency-Key", key)] if key else []
        return upload(self.server.address, workspace or self.workspace, two_files(content), PLAIN, headers)

    def assert_true_answer(self, answer, content):
        """Checks that the response matches what is stored; returns whether it is stored."""
        stored = self.db.files(self.workspace)
        self.assertIn(len(stored), (0, 2), "all or none")
        if stored:
            self.assertEqual(stored[0][4], hashlib.sha256(content).hexdigest())
        if answer.status == 200:
            self.assertEqual([row[0] for row in stored], [file["file_id"] for file in answer.json()["files"]])
        else:
            self.assertEqual((answer.status, answer.json()["code"]), (503, "platform_unavailable"))
            self.assertIn("retry-after", answer.headers)
            if answer.json().get("stored") != "unknown":
                self.assertEqual(stored, [])
        return bool(stored)

    def retry_until_stored(self, content, key):
        """Retries as a client should. At the end there is exactly one of each file."""
        for _ in range(50):
            answer = self.post(content, key)
            if answer.status == 200:
                break
            self.assertIn(answer.status, (409, 503), answer)
            time.sleep(0.1)
        self.assertEqual(answer.status, 200, answer)
        stored = self.db.files(self.workspace)
        self.assertEqual([row[0] for row in stored], [file["file_id"] for file in answer.json()["files"]])
        seqs = self.db.session.query(
            f"SELECT seq FROM activity_logs WHERE workspace_id = '{self.workspace.id}' ORDER BY seq")
        self.assertEqual(seqs, [("1",), ("2",)])
        return answer

    def strike(self, strike, size, key):
        content = noise(size, f"{strike} {size} {key}")
        self.proxy.arm(strike)
        # The previous strike has cut a link that the pool may still be replacing: then nothing was begun, and
        # the client retries.
        for _ in range(20):
            answer = self.post(content, key)
            if self.proxy.struck.is_set():
                return answer, content
            self.assertEqual(answer.status, 503, answer)
            self.assertFalse(self.assert_true_answer(answer, content))
            time.sleep(0.1)
        self.fail(f"never came to COMMIT: {answer}")

    def each_way(self, check):
        """Small requests use one flush, large ones COPY; with a key and without."""
        for size, key in itertools.product((SMALL, LARGE), ("a-key", None)):
            self.workspace = self.db.add_workspace()
            with self.subTest(size=size, key=key):
                check(size, key)

    def test_cut_before_commit(self):
        def check(size, key):
            answer, content = self.strike(Strike.BEFORE_COMMIT, size, key)
            self.assertEqual(answer.status, 503, answer)
            self.assertFalse(self.assert_true_answer(answer, content))
            if key:
                self.retry_until_stored(content, key)
        self.each_way(check)

    def test_cut_after_commit(self):
        def check(size, key):
            answer, content = self.strike(Strike.AFTER_COMMIT, size, key)
            # The server queries the fence and learns that it was stored.
            self.assertEqual(answer.status, 200, answer)
            self.assertTrue(self.assert_true_answer(answer, content))
            if key:
                again = self.retry_until_stored(content, key)
                self.assertEqual(again.headers["idempotency-replayed"], "true")
                self.assertEqual(again.body, answer.body)
        self.each_way(check)

    def test_cut_with_commit(self):
        def check(size, key):
            answer, content = self.strike(Strike.WITH_COMMIT, size, key)
            self.assert_true_answer(answer, content)
            if key:
                self.retry_until_stored(content, key)
        for _ in range(5):
            self.each_way(check)

    def test_committed_and_then_no_database_to_ask(self):
        """The reply to COMMIT is lost and the outcome cannot be queried: it is stored, and the server
        responds that this is unknown."""
        content = noise(SMALL, 5)
        self.proxy.arm(Strike.HANG_AFTER_COMMIT)
        pending = Timed(self.server.address, self.workspace, two_files(content), PLAIN,
                        [("Idempotency-Key", "k")])
        self.assertTrue(self.proxy.struck.wait(10))
        self.proxy.conditions.refuse = True
        self.proxy.cut()
        try:
            answer = pending.join()
        finally:
            self.proxy.conditions.refuse = False
        self.assertLess(pending.seconds, 10)
        self.assertEqual((answer.status, answer.json().get("stored")), (503, "unknown"), answer)
        self.assertTrue(self.assert_true_answer(answer, content))
        again = self.retry_until_stored(content, "k")
        self.assertEqual(again.headers["idempotency-replayed"], "true")

    def test_half_open_link_in_the_commit(self):
        """The link goes silent without being closed. A response within 10 s, and the workspace is not locked
        for long."""
        for strike in (Strike.HANG_BEFORE_COMMIT, Strike.HANG_AFTER_COMMIT):
            self.workspace = self.db.add_workspace()
            with self.subTest(strike=strike):
                content = noise(SMALL, 6)
                self.proxy.arm(strike)
                pending = Timed(self.server.address, self.workspace, two_files(content), PLAIN,
                                [("Idempotency-Key", "k")])
                self.assertTrue(self.proxy.struck.wait(10))
                begun = time.monotonic()
                answer = pending.join()
                print(f"\n{strike.value}: {answer.status} after {pending.seconds:.1f} s", flush=True)
                self.assert_true_answer(answer, content)
                self.assertLess(pending.seconds, 10)
                await_true(lambda: self.post(noise(SMALL, 7)).status == 200, 15 - (time.monotonic() - begun),
                           "the workspace takes uploads again")
                print(f"the workspace was free after {time.monotonic() - begun:.1f} s", flush=True)

    def test_all_links_half_open(self):
        """Every link is half-open and new ones hang too: 503 within 10 s for every request, and recovery once
        the network is back."""
        self.post(b"warm")
        self.proxy.conditions.half_open = True
        try:
            pending = [Timed(self.server.address, self.workspace, two_files(noise(size, 8)), PLAIN)
                       for size in (SMALL, LARGE, SMALL)]
            answers = [each.join() for each in pending]
        finally:
            self.proxy.conditions.half_open = False
        for answer, each in zip(answers, pending):
            self.assertEqual(answer.status, 503, answer)
            self.assertLess(each.seconds, 10)
        workspace = self.db.add_workspace()
        await_true(lambda: self.post(b"after", workspace=workspace).status == 200, 15, "uploads work again")

    def test_slow_sliced_and_throttled_links_only_take_longer(self):
        content, line = noise(300 * KIB, 9), self.proxy.conditions
        try:
            line.latency, line.slice, line.bandwidth = 0.002, 8 * KIB, 2 * MIB
            answer = self.post(content, "slow")
        finally:
            line.latency, line.slice, line.bandwidth = 0, None, None
        self.assertEqual(answer.status, 200, answer)
        self.assertTrue(self.assert_true_answer(answer, content))

    def test_idle_links_cut_or_reset_are_not_noticed_by_clients(self):
        for reset in (False, True):
            for _ in range(3):
                self.post(b"warm")
                self.proxy.cut(reset)
                answer = self.post(b"x" * 10)
                self.assertEqual(answer.status, 200, answer)


class PostgresAway(unittest.TestCase):
    """PostgreSQL stops, is killed, freezes: 503 promptly, and ready soon after its return."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(Cluster())
        cls.db = cls.enterClassContext(Database(cls.cluster.conninfo))
        cls.server = cls.enterClassContext(Server(cls.db.conninfo))
        cls.server.wait_ready()
        cls.workspace = cls.db.add_workspace()

    def post(self, content=b"x"):
        begun = time.monotonic()
        answer = upload(self.server.address, self.workspace, form(part(content)), PLAIN)
        return answer, time.monotonic() - begun

    def assert_away(self, limit):
        answer, seconds = self.post()
        self.assertEqual((answer.status, answer.json()["code"]), (503, "platform_unavailable"), answer)
        self.assertIn("retry-after", answer.headers)
        self.assertLess(seconds, limit)

    def await_known(self, within):
        await_true(lambda: all(self.server.get("/readyz").status == 503 for _ in range(IN_A_ROW)), within,
                   "/readyz tells of it on every shard")

    def assert_back(self):
        """Once PostgreSQL accepts connections again, uploads work within 3 s, on every shard."""
        end = time.monotonic() + 3
        await_true(lambda: all(self.post()[0].status == 200 for _ in range(IN_A_ROW)), 3, "uploads work again")
        self.server.wait_ready(within=max(end - time.monotonic(), 0.1))

    def test_stopped_and_started(self):
        self.assertEqual(self.post()[0].status, 200)
        self.cluster.stop("fast")
        try:
            self.assert_away(2)
            await_true(lambda: self.server.get("/readyz").status == 503, 3, "/readyz tells of it")
            for _ in range(5):
                self.assert_away(2)
            self.assertEqual(self.server.get("/healthz").status, 200)
        finally:
            self.cluster.start()
        self.assert_back()
        self.db.reconnect()

    def test_killed_under_load(self):
        """Immediate shutdown, as by kill -9, while uploads run: every upload answered with 200 is stored
        afterwards."""
        told, others, stop = [], [], threading.Event()

        def send(seed):
            for turn in range(10_000):
                if stop.is_set():
                    return
                answer, _ = self.post(noise(500 + turn, seed))
                if answer.status == 200:
                    told.append(answer.json()["files"][0]["file_id"])
                else:
                    others.append(answer)

        senders = [threading.Thread(target=send, args=(seed,)) for seed in range(4)]
        for sender in senders:
            sender.start()
        try:
            await_true(lambda: len(told) > 50, 20, "uploads run")
            self.cluster.stop("immediate")
            await_true(lambda: others, 10, "uploads are refused")
        finally:
            stop.set()
            for sender in senders:
                sender.join()
            self.cluster.start()
        self.assert_back()
        self.db.reconnect()
        self.assertEqual({answer.status for answer in others}, {503})
        stored = {row[0] for row in self.db.session.query("SELECT file_id FROM pending_uploads")}
        self.assertEqual(set(told) - stored, set())

    def test_frozen(self):
        """Accepts connections and never replies: this is soon detected, and then 503 is immediate."""
        self.assertEqual(self.post()[0].status, 200)
        self.cluster.freeze()
        try:
            self.await_known(6)
            for _ in range(5):
                self.assert_away(2)
        finally:
            self.cluster.thaw()
        self.assert_back()

    def test_frozen_while_somebody_waits(self):
        """Requests before the detection wait, at most 10 s. A shard may detect it only through such a
        request, if that holds the shard's one connection."""
        self.assertEqual(self.post()[0].status, 200)
        self.cluster.freeze()
        try:
            early = Timed(self.server.address, self.workspace, two_files(b"early"), PLAIN)
            self.await_known(10)
            for _ in range(5):
                self.assert_away(2)
            self.assertEqual(early.join().status, 503)
            self.assertLess(early.seconds, 10)
        finally:
            self.cluster.thaw()
        self.assert_back()


class StoodStill(unittest.TestCase):
    """The server is stopped for longer than its database timeout, while the database replies. If it mistook
    its own pause for a silent database, it would reject every request."""

    def test_in_the_middle_of_a_handshake(self):
        with Database() as db, Proxy(upstream_of(db.conninfo)) as proxy:
            # Requesting TLS adds a handshake step that is still to be done after the pause.
            through = parse_conninfo(db.conninfo) | {"host": "127.0.0.1", "port": str(proxy.port), "sslmode": "prefer"}
            with Server(format_conninfo(through)) as server:
                server.wait_ready()
                workspaces = [db.add_workspace() for _ in range(24)]
                proxy.conditions.half_open = True
                proxy.cut()
                pending = [Timed(server.address, workspace, two_files(b"waits"), PLAIN) for workspace in workspaces]
                time.sleep(0.5)
                server.process.send_signal(signal.SIGSTOP)
                proxy.conditions.half_open = False
                time.sleep(3)
                server.process.send_signal(signal.SIGCONT)
                self.assertEqual([each.join().status for each in pending], [200] * len(pending))
                self.assertNotIn("no answer in time", server.log_text())


if __name__ == "__main__":
    unittest.main()
