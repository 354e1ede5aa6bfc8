"""Every fault at every point of an upload, and of a sweep. A client that sends the same again until it is told 200
finds its files stored exactly once; those who follow the feed see each row exactly once; and no answer on the way
there was untrue."""

import concurrent.futures
import contextlib
import dataclasses
import itertools
import os
import pathlib
import queue
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "soak"))

import forms
from checker import Checker
from faulty_server import FaultyServer
from followers import LOST, Poller, StreamReader
from http_wire import Wire, await_true, request_head
from journal import File, Journal, Upload
from pg_client import Session
from server_process import BINARY, Server, release_binary
from testbed import Database, upload
from websocket_client import Listener, WebSocket

NO_ANSWER = 0
TRUE = (200, 503)  # it depends on whether COMMIT had left; what is said is what is so


@dataclasses.dataclass(frozen=True)
class Point:
    """A place in the code, the how manieth time the server comes there, and what the first attempt is answered when
    the database is cut off, or memory runs out, at that moment. A killed server never answers, a stopped one always
    does, with 200."""

    name: str
    drop: int | tuple
    throw: int | tuple
    hit: int = 1

    def expected(self, action):
        answers = {"kill": NO_ANSWER, "stop": 200, "drop": self.drop, "throw": self.throw}[action]
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
    Point("before_flush/commit", drop=503, throw=503),
    Point("after_flush/commit", drop=TRUE, throw=200),
    Point("committed", drop=200, throw=200),
    Point("before_event", drop=200, throw=200),
    Point("before_event", drop=200, throw=200, hit=3),
    Point("before_delivery", drop=200, throw=200),
    Point("before_delivery", drop=200, throw=200, hit=3),
    Point("before_answer", drop=200, throw=NO_ANSWER),
    Point("mid_answer", drop=200, throw=NO_ANSWER),
)
# One flush for everything, and COPY through a spool.
SIZES = {"small": (1, 700, 10_000), "large": (400_000, 1, 300_000)}


class UploadFaults(unittest.TestCase):
    """The server that fails has listeners; a healthy replica beside it has a poller."""

    def setUp(self):
        self.journal = Journal()
        self.db = self.enterContext(Database())
        self.healthy = self.enterContext(Server(self.db.conninfo, "--threads", "1"))
        self.healthy.wait_ready()

    def run_everywhere(self, action, servers):
        """Every point, small and large, shared by some servers that go from one case to the next."""
        cases = list(itertools.product(POINTS, SIZES))
        with contextlib.ExitStack() as stack:
            free = queue.SimpleQueue()
            faulty = [stack.enter_context(FaultyServer(self.db.conninfo, "--threads", "2")) for _ in range(servers)]
            for server in faulty:
                free.put(server)

            def run(case):
                server = free.get()
                try:
                    self.run_case(server, action, *case)
                finally:
                    free.put(server)

            pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(servers))
            for case, done in [(case, pool.submit(run, case)) for case in cases]:
                with self.subTest(action=action, point=case[0].name, hit=case[0].hit, size=case[1]):
                    done.result()
            happened = [fault for server in faulty for fault in server.faults()]
            self.assertEqual(sorted(happened), sorted((point.name, action) for point, _ in cases))
            self.assertEqual(sum(server.restarts for server in faulty), len(cases) if action == "kill" else 0)
        self.assert_nothing_wrong()

    def run_case(self, server, action, point, size):
        workspace = self.db.add_workspace()
        name = f"{action}-{point.name.replace('/', '.')}-{point.hit}-{size}"
        files = [File(f"{name}-{i}.bin", count, f"{name} {i}") for i, count in enumerate(SIZES[size])]
        contents = [file.content() for file in files]
        wanted = Upload(workspace, key=name, files=files)
        self.journal.add(wanted, contents)
        body = forms.form(*[forms.part(content, file.name) for file, content in zip(files, contents)])

        server.wait_quiet()
        with self.followed(server, workspace, len(files), name), concurrent.futures.ThreadPoolExecutor(1) as client:
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
        self.assertTrue(server.alive())

    def attempt(self, server, wanted, body):
        """The status, after a look whether the answer was true."""
        try:
            answer = upload(server.address, wanted.workspace, body, forms.PLAIN, [("Idempotency-Key", wanted.key)])
            told = answer.json()
        except LOST:
            wanted.answers.append(NO_ANSWER)
            wanted.in_doubt = True
            return NO_ANSWER
        wanted.answers.append(answer.status)
        stored = [row[0] for row in self.db.files(wanted.workspace)]
        if answer.status == 200:
            wanted.told = [file["file_id"] for file in told["files"]]
            self.assertEqual(stored, wanted.told)
        elif told.get("stored") != "unknown" and answer.status in (500, 503):
            self.assertEqual(stored, [], answer)
        return answer.status

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

    def assert_nothing_wrong(self):
        found = Checker(self.db.session, self.journal).run()
        self.assertEqual({kind: told for kind, told in found.items() if told}, {})

    def test_kill(self):
        self.run_everywhere("kill", servers=2)

    def test_stop(self):
        self.run_everywhere("stop", servers=4)

    def test_drop(self):
        self.run_everywhere("drop", servers=2)

    def test_throw(self):
        self.run_everywhere("throw", servers=2)


if __name__ == "__main__":
    unittest.main()
