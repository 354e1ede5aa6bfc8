"""Every fault at every point of an upload, and of a sweep. A client that retries until it gets 200 finds its
files stored exactly once; followers of the feed receive each row exactly once; and every response on the way
was correct."""

import concurrent.futures
import contextlib
import dataclasses
import itertools
import os
import pathlib
import queue
import secrets
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "soak"))

import forms
from checker import Checker
from faulty_server import FaultyServer
from followers import LOST, Poller, StreamReader
from http_wire import await_true
from journal import File, Journal, Upload
from pg_client import Session
from server_process import BINARY, Server, release_binary
from stores import Directory
from testbed import Database, upload
from websocket_client import Listener, WebSocket

NO_ANSWER = 0
TRUE = (200, 503)  # COMMIT may have been sent or not; the response matches the outcome
ACTIONS = ("kill", "stop", "drop", "throw")


@dataclasses.dataclass(frozen=True)
class Point:
    """A place in the code, which visit of it counts, and the response to the first attempt when the database
    connection is dropped, when memory runs out and when the server is killed at that moment. A stopped server
    always responds with 200 in the end."""

    name: str
    drop: int | tuple
    throw: int | tuple
    kill: int | tuple = NO_ANSWER
    stop: int = 200
    hit: int = 1

    def expected(self, action):
        answers = getattr(self, action)
        return answers if isinstance(answers, tuple) else (answers,)


POINTS = (
    Point("header_parsed", drop=200, throw=500),
    Point("body_parsed", drop=200, throw=500),
    Point("begun", drop=503, throw=500),
    Point("row_written", drop=503, throw=500),
    Point("row_written", drop=503, throw=500, hit=2),
    Point("row_written", drop=503, throw=500, hit=3),
    Point("before_publish", drop=503, throw=500),
    Point("after_publish", drop=503, throw=500),
    Point("before_flush/commit", drop=503, throw=TRUE),
    Point("after_flush/commit", drop=TRUE, throw=TRUE),
    Point("committed", drop=200, throw=200),
    Point("before_event", drop=200, throw=200),
    Point("before_event", drop=200, throw=200, hit=3),
    # On the listeners' threads, which may differ from the upload's.
    Point("before_delivery", drop=200, throw=200, kill=(NO_ANSWER, 200)),
    Point("before_delivery", drop=200, throw=200, kill=(NO_ANSWER, 200), hit=3),
    Point("before_bell", drop=200, throw=200, kill=(NO_ANSWER, 200)),
    Point("before_answer", drop=200, throw=NO_ANSWER),
    Point("mid_answer", drop=200, throw=NO_ANSWER),
)
# One flush for everything, and COPY through a spool.
SIZES = {"small": (1, 700, 10_000), "large": (700_000, 1, 600_000)}


class FaultCase(unittest.TestCase):
    maxDiff = None
    flags = ()
    content_dir = None

    def setUp(self):
        self.journal = Journal()
        self.db = self.enterContext(Database())

    def run_everywhere(self, cases, run_case, servers):
        """Runs every case (action, point, …), distributed over several servers."""
        with contextlib.ExitStack() as stack:
            free = queue.SimpleQueue()
            faulty = [stack.enter_context(FaultyServer(self.db.conninfo, "--threads", "2", *self.flags))
                      for _ in range(servers)]
            for server in faulty:
                free.put(server)

            def run(case):
                server = free.get()
                try:
                    server.wait_quiet()
                    run_case(server, *case)
                    self.assertTrue(server.alive())
                finally:
                    free.put(server)

            pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(servers))
            for case, done in [(case, pool.submit(run, case)) for case in cases]:
                with self.subTest(case=case):
                    done.result()
            happened = [fault for server in faulty for fault in server.faults()]
            self.assertEqual(sorted(happened), sorted((case[1].name, case[0]) for case in cases))
            killed = sum(case[0] == "kill" for case in cases)
            self.assertEqual(sum(server.restarts for server in faulty), killed)
        contents = Directory(self.content_dir) if self.content_dir else None
        found = Checker(self.db.session, self.journal, contents, len(cases)).run()
        self.assertEqual({kind: told for kind, told in found.items() if told}, {})

    def make_upload(self, workspace, name, sizes, key):
        """The upload that a client wants stored, and its form."""
        files = [File(f"{name}-{i}.bin".replace("/", "."), size, f"{name} {i}") for i, size in enumerate(sizes)]
        contents = [file.content() for file in files]
        wanted = Upload(workspace, key, files)
        self.journal.add(wanted, contents)
        return wanted, forms.form(*[forms.part(content, file.name) for file, content in zip(files, contents)])

    def attempt(self, server, wanted, body):
        """Returns the status, after checking that the response was correct."""
        headers = [("Idempotency-Key", wanted.key)] if wanted.key else []
        try:
            answer = upload(server.address, wanted.workspace, body, forms.PLAIN, headers)
            told = answer.json()
        except LOST:
            wanted.answers.append(NO_ANSWER)
            wanted.in_doubt = True
            return NO_ANSWER
        wanted.answers.append(answer.status)
        wanted.in_doubt = wanted.in_doubt or told.get("stored") == "unknown"
        stored = self.db.file_ids(wanted.workspace)
        if answer.status == 200:
            wanted.told = [file["file_id"] for file in told["files"]]
            self.assertEqual(stored, wanted.told)
        elif answer.status in (500, 503) and not wanted.in_doubt:
            self.assertEqual(stored, [], answer)
        return answer.status

    def repeat_until_told(self, server, wanted, body):
        """As a client does that was not told what became of its upload."""
        for _ in range(100):
            if wanted.told:
                return
            time.sleep(0.1)
            self.assertIn(self.attempt(server, wanted, body), (200, 409, 503), wanted.answers)
        self.fail(wanted.answers)


class UploadFaults(FaultCase):
    """The server that fails has listeners; a healthy replica beside it has a poller."""

    def setUp(self):
        super().setUp()
        self.healthy = self.enterContext(Server(self.db.conninfo, "--threads", "1"))
        self.healthy.wait_ready()

    def run_case(self, server, action, point, size):
        workspace = self.db.add_workspace()
        name = f"{action}-{point.name}-{point.hit}-{size}"
        wanted, body = self.make_upload(workspace, name, SIZES[size], key=name)
        with (self.followed(server, workspace, len(wanted.files), name),
              concurrent.futures.ThreadPoolExecutor(1) as client):
            if action == "drop":
                self.await_open_connections(server)
            server.order(action, point.name, point.hit)
            first = client.submit(self.attempt, server, wanted, body)
            server.meet_fault(action)
            self.assertIn(first.result(), point.expected(action), server.log_text()[-2000:])
            self.repeat_until_told(server, wanted, body)

    def await_open_connections(self, server):
        """A connection that is being opened would be cut as well, and the database then counts as unavailable."""
        counts = [0, 1]

        def settled():
            counts.append(server.metrics()["molecule_database_connects_total"])
            time.sleep(0.1)
            return len(set(counts[-4:])) == 1
        await_true(settled, 30, "no more connections are opened")

    @contextlib.contextmanager
    def followed(self, server, workspace, rows, name):
        followers = [Poller(self.healthy, workspace, rows), StreamReader(server, workspace, rows)]
        for follower in followers:
            follower.start()
            self.assertTrue(follower.begun.wait(20))
        with Listener(WebSocket(server.address, workspace.token)) as listener:
            self.assertEqual(listener.source.answer.status, 101)
            yield
            for follower in followers:
                follower.join()
                self.journal.saw((name, type(follower).__name__), follower.rows)
            await_true(lambda: listener.ended or len(listener.heard) >= rows, 20, "events on the WebSocket")
            for seq, _, event in listener.heard:
                self.journal.hear((name, 0), (event["payload"]["id"], seq, event["workspace_id"]))

    def run_action(self, action, servers):
        cases = [(action, *case) for case in itertools.product(POINTS, SIZES)]
        self.run_everywhere(cases, self.run_case, servers)

    def test_kill(self):
        self.run_action("kill", servers=2)

    def test_stop(self):
        self.run_action("stop", servers=4)

    def test_drop(self):
        self.run_action("drop", servers=2)

    def test_throw(self):
        self.run_action("throw", servers=2)


class SharedCommitFaults(FaultCase):
    """Small uploads without a key share a transaction (group commit). Whatever happens to it, each gets a
    response, each is stored completely or not at all, and every response is correct."""

    clients = 12

    def run_case(self, server, action, point):
        uploads = [self.make_upload(self.db.add_workspace(), f"{action}-{point.name}-{point.hit}-{i}", (200, 300), None)
                   for i in range(self.clients)]
        with concurrent.futures.ThreadPoolExecutor(self.clients) as pool:
            server.order(action, point.name, point.hit)
            attempts = [pool.submit(self.attempt, server, *each) for each in uploads]
            server.meet_fault(action)
            answers = [attempt.result() for attempt in attempts]
        allowed = {"kill": (NO_ANSWER, 200), "stop": (200,), "drop": (200, 503), "throw": (NO_ANSWER, 200, 500, 503)}
        self.assertLessEqual(set(answers), set(allowed[action]))

    def test_every_fault(self):
        cases = list(itertools.product(ACTIONS, [point for point in POINTS if point.name != "before_delivery"]))
        self.run_everywhere(cases, self.run_case, servers=4)
        together = self.db.session.value(
            "SELECT max(aboard) FROM (SELECT count(DISTINCT workspace_id) AS aboard FROM pending_uploads "
            "GROUP BY xmin::text) AS transactions")
        self.assertGreater(int(together), 1)


class ContentFaults(FaultCase):
    """The same where the bytes are in a directory: whatever happens between them and their row, no row is without
    bytes."""

    sizes = (1, 300_000, 1_500_000)
    points = (Point("bytes_durable", drop=200, throw=500),) + tuple(
        point for point in POINTS if point.hit == 1 and point.name in (
            "row_written", "after_publish", "before_flush/commit", "after_flush/commit", "committed"))

    def setUp(self):
        super().setUp()
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="restante-content-"))
        self.content_dir = os.path.join(folder, "content")
        self.flags = ("--content-store", "directory", "--content-dir", self.content_dir)

    def run_case(self, server, action, point):
        workspace, name = self.db.add_workspace(), f"content-{action}-{point.name}"
        wanted, body = self.make_upload(workspace, name, self.sizes, key=name)
        with concurrent.futures.ThreadPoolExecutor(1) as client:
            server.order(action, point.name, point.hit)
            first = client.submit(self.attempt, server, wanted, body)
            server.meet_fault(action)
            self.assertIn(first.result(), point.expected(action), server.log_text()[-2000:])
            for _ in range(100):
                if wanted.told:
                    break
                time.sleep(0.1)
                self.assertIn(self.attempt(server, wanted, body), (200, 409, 503), wanted.answers)
        self.assertIsNotNone(wanted.told, wanted.answers)

    def test_every_fault(self):
        self.run_everywhere(list(itertools.product(ACTIONS, self.points)), self.run_case, servers=3)

    def test_every_fault_of_a_removal(self):
        for action, point in itertools.product(("kill", "drop", "throw"), ("row_deleted", "bytes_removed")):
            with self.subTest(action=action, point=point), \
                    FaultyServer(self.db.conninfo, "--sweep-interval", "300ms", *self.flags) as server:
                server.wait_quiet()
                workspace = self.db.add_workspace()
                body = forms.form(forms.part(forms.noise(300_000, 1)), forms.part(forms.noise(300_000, 2)))
                gone, kept = upload(server.address, workspace, body, forms.PLAIN).json()["files"]
                keys = dict(self.db.session.query("SELECT file_id, content_key FROM pending_uploads"))
                server.order(action, point)
                self.db.session.query("UPDATE pending_uploads SET acked_at = now() - interval '2 hours' "
                                      f"WHERE file_id = '{gone['file_id']}'")
                server.meet_fault(action)
                # A claim of a server that died lapses; the test does not wait for it.
                self.db.session.query("UPDATE content_removals SET claimed_until = NULL")
                await_true(lambda: self.db.session.value("SELECT count(*) FROM content_removals") == "0", 30, "the queue is empty")
                contents = Directory(self.content_dir)
                self.assertIsNone(contents.digest(keys[gone["file_id"]]))
                self.assertEqual(contents.digest(keys[kept["file_id"]]), kept["sha256"])
                self.assertEqual(server.faults(), [(point, action)])


class GrantFaults(FaultCase):
    """An upload with a single-use grant, repeated until it is confirmed: the grant says what is stored, and is used
    once."""

    def add_grant(self):
        """A workspace whose token is a grant for one upload."""
        workspace = self.db.add_workspace()
        workspace.token = secrets.token_urlsafe(32)
        self.db.session.query(
            "INSERT INTO workspace_auth_tokens (workspace_id, token_hash, prefix, scope, expires_at, max_requests, "
            f"max_files, max_bytes) VALUES ('{workspace.id}', sha256(sha256('{workspace.token}')), "
            f"'{workspace.token[:8]}', 'grant', now() + interval '1 hour', 1, 9, 9000000)")
        return workspace

    def used(self, workspace):
        return int(self.db.session.value("SELECT used_files FROM workspace_auth_tokens WHERE scope = 'grant' AND "
                                         f"workspace_id = '{workspace.id}'"))

    def run_case(self, server, action, point, size):
        workspace, name = self.add_grant(), f"grant-{action}-{point.name}-{point.hit}-{size}"
        wanted, body = self.make_upload(workspace, name, SIZES[size], key=name)
        with concurrent.futures.ThreadPoolExecutor(1) as client:
            server.order(action, point.name, point.hit)
            first = client.submit(self.attempt, server, wanted, body)
            server.meet_fault(action)
            self.assertIn(first.result(), point.expected(action), server.log_text()[-2000:])
        if not wanted.in_doubt:
            self.assertEqual(self.used(workspace), len(self.db.files(workspace)))
        self.repeat_until_told(server, wanted, body)
        self.assertEqual(self.used(workspace), len(wanted.files))

    def test_every_fault(self):
        places = ("row_written", "before_publish", "after_publish", "before_flush/commit", "after_flush/commit",
                  "before_answer")
        points = [point for point in POINTS if point.name in places and point.hit == 1]
        self.run_everywhere(list(itertools.product(ACTIONS, points, SIZES)), self.run_case, servers=4)


class SweepFaults(unittest.TestCase):
    """Due rows are deleted, and nothing else is."""

    def run_fault(self, action):
        with Database() as db, FaultyServer(db.conninfo, "--sweep-interval", "300ms") as server:
            server.wait_quiet()
            workspace = db.add_workspace()
            body = forms.form(*[forms.part(f"file {i}", f"{i}.txt") for i in range(3)])
            answer = upload(server.address, workspace, body, forms.PLAIN)
            acked, expired, kept = [file["file_id"] for file in answer.json()["files"]]
            with Session(db.conninfo) as clock:
                clock.query(f"BEGIN; UPDATE pending_uploads SET acked_at = now() - interval '2 hours' "
                            f"WHERE file_id = '{acked}'; UPDATE pending_uploads SET expires_at = now() - "
                            f"interval '1 hour' WHERE file_id = '{expired}'")
                server.order(action, "before_sweep_delete")
                clock.query("COMMIT")
            server.meet_fault(action)
            await_true(lambda: [row[0] for row in db.files(workspace)] == [kept], 20, "what is due has gone")
            self.assertEqual(server.faults(), [("before_sweep_delete", action)])
            self.assertEqual(db.counts()["activity_logs"], 3)
            if action == "throw":
                self.assertGreater(server.metrics()['molecule_task_restarts_total{task="sweeper"}'], 0)
            if action == "drop":
                self.assertGreater(server.metrics()['molecule_pending_uploads_swept_total{outcome="error"}'], 0)

    def test_every_fault(self):
        with concurrent.futures.ThreadPoolExecutor(len(ACTIONS)) as pool:
            for action, done in [(action, pool.submit(self.run_fault, action)) for action in ACTIONS]:
                with self.subTest(action=action):
                    done.result()


class FaultPointsInBinaries(unittest.TestCase):
    def test_only_the_binary_of_the_tests_has_them(self):
        """test/unit/no_fault_points.cpp proves that a release compiles them to nothing; this checks the
        complete binary, if there is one."""
        self.assertTrue(has_fault_points(BINARY))
        for binary in filter(None, [release_binary()]):
            self.assertFalse(has_fault_points(binary), binary)


def has_fault_points(binary):
    return b"RESTANTE_FAULT" in pathlib.Path(binary).read_bytes()


if __name__ == "__main__":
    unittest.main()
