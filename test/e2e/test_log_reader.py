"""A reader of the log that stops reading, as a full `journald` or a paused terminal does: requests are answered,
lost lines are counted and reported, and the server can be stopped."""

import json
import os
import threading
import time
import unittest

from http_wire import Wire, request_head
from server_process import Server
from testbed import Database

QUEUE_AND_PIPE = (1 << 20) + (64 << 10)
DROPPED = "molecule_log_lines_dropped_total"


class Pipe:
    """Takes the log. Nobody reads until read_on()."""

    def __init__(self):
        self.reader, self.writer = os.pipe()
        self._chunks = []
        self._thread = None

    def close_writer(self):
        if self.writer is not None:
            os.close(self.writer)
            self.writer = None

    def read_on(self):
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def lines(self):
        """All lines, parsed, once the server has ended."""
        self._thread.join(timeout=30)
        return [json.loads(line) for line in b"".join(self._chunks).splitlines()]

    def close(self):
        self.close_writer()
        os.close(self.reader)

    def _read(self):
        while chunk := os.read(self.reader, 1 << 16):
            self._chunks.append(chunk)


class StoppedReader(unittest.TestCase):
    def setUp(self):
        self.pipe = Pipe()
        self.addCleanup(self.pipe.close)
        self.db = self.enterContext(Database())
        self.server = self.enterContext(
            Server(self.db.conninfo, "--threads", "1", "--log-level", "debug", stderr=self.pipe.writer))
        self.pipe.close_writer()
        self.server.wait_ready()

    def log_too_much(self):
        """Sends requests, each of which logs a line, until lines are dropped; returns how many."""
        request = request_head("GET", "/nowhere", [("Host", "test")])
        block = 200
        with Wire(self.server.address, timeout=20) as wire:
            for sent in range(block, QUEUE_AND_PIPE // 100, block):
                wire.send(request * block)
                for _ in range(block):
                    self.assertEqual(wire.read_answer().status, 404)
                if self.server.metrics().get(DROPPED, 0) > 0:
                    return sent
        raise AssertionError("no line was dropped")

    def test_requests_are_answered_and_lost_lines_are_counted(self):
        sent = self.log_too_much()
        self.assertEqual(self.server.get("/healthz").status, 200)
        self.pipe.read_on()
        lost = self.server.metrics()[DROPPED]
        self.assertEqual(self.server.stop(), 0)
        lines = self.pipe.lines()
        reported = sum(line["lines"] for line in lines if line["event"] == "log_lines_dropped")
        self.assertGreaterEqual(reported, lost)
        arrived = sum(line["event"] == "request" and line["path"] == "unmatched" for line in lines)
        self.assertLess(arrived, sent)
        self.assertGreaterEqual(arrived + reported, sent)
        self.assertEqual(lines[-1]["event"], "stopped")

    def test_the_server_stops_although_nobody_reads(self):
        self.log_too_much()
        begun = time.monotonic()
        self.assertEqual(self.server.stop(), 0)
        self.assertLess(time.monotonic() - begun, 10)


if __name__ == "__main__":
    unittest.main()
