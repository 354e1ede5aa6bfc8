"""Graceful shutdown by SIGTERM and SIGINT: no accepted request is cut off, idle connections do not delay it,
and the exit code is 0."""

import signal
import threading
import time
import unittest

from forms import PLAIN, form, part
from front_case import GET, still_answers
from http_wire import Wire, await_true
from server_process import Server
from testbed import Database, upload_head


class Load(threading.Thread):
    """A client that sends requests continuously; it counts complete and truncated responses."""

    def __init__(self, address):
        super().__init__()
        self.address = address
        self.whole = 0
        self.cut = []
        self.start()

    def run(self):
        try:
            while True:
                with Wire(self.address, timeout=10) as wire:
                    while self.ask(wire):
                        pass
        except (ConnectionRefusedError, ConnectionResetError):
            pass  # no longer listening, or not accepted before that
        except OSError as problem:
            self.cut.append(problem)

    def ask(self, wire):
        try:
            wire.send(GET)
        except (BrokenPipeError, ConnectionResetError):
            return False
        try:
            answer = wire.read_answer()
        except (ConnectionError, OSError) as problem:
            # Closed while our request was in flight: it was never answered, and that is allowed. Half a
            # response is not.
            if "after b''" not in str(problem) and not isinstance(problem, ConnectionResetError):
                self.cut.append(problem)
            return False
        self.whole += answer.status == 200
        return answer.headers["connection"] == "keep-alive"


class Shutdown(unittest.TestCase):
    def setUp(self):
        self.db = self.enterContext(Database())
        self.server = self.enterContext(Server(self.db.conninfo))
        self.server.wait_ready()

    def end_within(self, seconds, number=signal.SIGTERM):
        begun = time.monotonic()
        self.server.process.send_signal(number)
        code = self.ended()
        self.assertLess(time.monotonic() - begun, seconds)
        return code

    def ended(self):
        code = self.server.process.wait(timeout=20)
        self.server.process.stdout.close()
        return code

    def test_idle_connections_do_not_delay_it(self):
        wires = [Wire(self.server.address) for _ in range(50)]
        for wire in wires:
            self.assertTrue(still_answers(wire))
        silent = [Wire(self.server.address) for _ in range(50)]
        self.assertEqual(self.end_within(3), 0)
        for wire in wires + silent:
            self.assertTrue(wire.is_closed())
            wire.close()

    def test_sigint_does_the_same(self):
        self.assertEqual(self.end_within(3, signal.SIGINT), 0)

    def test_under_load_no_answer_is_cut(self):
        clients = [Load(self.server.address) for _ in range(8)]
        await_true(lambda: sum(client.whole for client in clients) > 500, 60, "load")
        self.assertEqual(self.end_within(10), 0)
        for client in clients:
            client.join(20)
            self.assertFalse(client.is_alive())
            self.assertEqual(client.cut, [])
        with self.assertRaises(ConnectionRefusedError):
            Wire(self.server.address)

    def test_a_request_that_is_half_sent_can_still_be_finished(self):
        with Wire(self.server.address) as wire:
            wire.send(GET[:-2])
            self.server.process.send_signal(signal.SIGTERM)
            await_true(lambda: self.refuses_connections(), 5, "no more connections")
            wire.send(GET[-2:])
            answer = wire.read_answer()
            self.assertEqual((answer.status, answer.headers["connection"]), (200, "close"))
        self.assertEqual(self.ended(), 0)

    def test_one_that_never_finishes_is_cut_in_time(self):
        with Wire(self.server.address) as wire:
            wire.send(b"POST /nowhere HTTP/1.1\r\nHost: test\r\nContent-Length: 1000000\r\n\r\n")
            self.assertEqual(wire.read_answer().status, 404)
            stuck = Wire(self.server.address)
            stuck.send(GET[:10])
            self.assertEqual(self.end_within(10.5), 0)
            stuck.close()

    def test_an_upload_in_the_middle_finishes(self):
        workspace = self.db.add_workspace()
        body = form(part(bytes(2_000_000)))
        with Wire(self.server.address) as wire:
            wire.send(upload_head(workspace, PLAIN, len(body)))
            wire.send(body[:1_000_000])
            self.server.process.send_signal(signal.SIGTERM)
            await_true(lambda: self.refuses_connections(), 5, "no more connections")
            wire.send(body[1_000_000:])
            answer = wire.read_answer()
            self.assertEqual((answer.status, answer.headers["connection"]), (200, "close"))
        self.assertEqual(self.ended(), 0)
        self.assertEqual(len(self.db.files(workspace)), 1)

    def test_an_upload_that_stalls_gets_an_answer_in_time(self):
        workspace = self.db.add_workspace()
        body = form(part(bytes(2_000_000)))
        with Wire(self.server.address) as wire:
            wire.send(upload_head(workspace, PLAIN, len(body)))
            wire.send(body[:1_000_000])
            begun = time.monotonic()
            self.server.process.send_signal(signal.SIGTERM)
            answer = wire.read_answer()
            self.assertEqual((answer.status, answer.headers["connection"]), (503, "close"))
            self.assertIn("retry-after", answer.headers)
        self.assertEqual(self.ended(), 0)
        self.assertLess(time.monotonic() - begun, 10.5)
        self.assertEqual(set(self.db.counts().values()), {0})

    def test_a_second_signal_ends_it_at_once(self):
        with Wire(self.server.address) as wire:
            wire.send(GET[:10])
            self.server.process.send_signal(signal.SIGTERM)
            await_true(lambda: self.refuses_connections(), 5, "no more connections")
            self.assertTrue(self.server.alive())
            self.assertEqual(self.end_within(1), -signal.SIGTERM)

    def refuses_connections(self):
        try:
            Wire(self.server.address).close()
            return False
        except ConnectionRefusedError:
            return True
        except ConnectionResetError:
            return False  # it arrived while the listener closed


if __name__ == "__main__":
    unittest.main()
