"""Many connections, slow ones and silent ones: each is limited, none blocks another, and all resources are
released."""

import concurrent.futures
import os
import socket
import tempfile
import time
import unittest

from front_case import GET, FrontCase, still_answers
from http_wire import Wire, await_true, request_head
from server_process import BINARY, Server, release_binary, run_command
from testbed import Database


class Slow(FrontCase):
    binary = release_binary()

    def test_a_header_byte_every_five_seconds_is_408_at_ten(self):
        begun = time.monotonic()
        with self.wire() as wire:
            for byte in b"GE":
                wire.send(bytes([byte]))
                time.sleep(5)
            self.assertEqual(wire.read_answer().status, 408)
            self.assertTrue(wire.is_closed())
        self.assertAlmostEqual(time.monotonic() - begun, 10, delta=1.5)

    def test_silence_is_closed_at_ten_seconds_without_a_word(self):
        begun = time.monotonic()
        with self.wire() as wire:
            self.assertTrue(wire.is_closed(within=15))
        self.assertAlmostEqual(time.monotonic() - begun, 10, delta=1.5)

    def test_slow_ones_hold_up_nobody(self):
        with concurrent.futures.ThreadPoolExecutor(40) as pool:
            wires = list(pool.map(lambda _: self.wire(), range(40)))
        for wire in wires:
            wire.send(b"GET /heal")
        begun = time.monotonic()
        for _ in range(20):
            self.assertEqual(self.server.get("/healthz").status, 200)
        self.assertLess(time.monotonic() - begun, 5)
        for wire in wires:
            wire.close()

    def test_who_pipelines_and_never_reads_is_cut_and_costs_little(self):
        """The responses to these requests fill every socket buffer; the server must not queue them in
        memory."""
        before = self.server.resident_bytes()
        with self.wire(timeout=60) as wire:
            wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            wire.socket.settimeout(2)
            try:
                for _ in range(2000):
                    wire.socket.send(GET * 1000)
            except (TimeoutError, ConnectionError):
                pass
            await_true(lambda: self.server.client_connections() == 0, 40, "the server gave up on it")
        self.assert_memory_below(before + (4 << 20))


class Many(FrontCase):
    binary = release_binary()

    def test_two_thousand_idle_connections(self):
        self.assertEqual(self.server.get("/healthz").status, 200)
        before = self.server.resident_bytes()
        wires = []
        try:
            for _ in range(2000):
                wire = self.wire()
                wires.append(wire)
                wire.send(GET)
                self.assertEqual(wire.read_answer().status, 200)
            self.assertEqual(self.server.client_connections(), 2000)
            self.assert_memory_below(before + 2000 * (8 << 10))
            for wire in wires[::100]:
                self.assertTrue(still_answers(wire))
        finally:
            for wire in wires:
                wire.close()

    def test_connections_come_and_go_without_a_trace(self):
        def round_trip(_):
            with self.wire() as wire:
                return still_answers(wire)

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            self.assertTrue(all(pool.map(round_trip, range(500))))
            before = self.server.resident_bytes()
            self.assertTrue(all(pool.map(round_trip, range(2000))))
        self.assert_memory_below(before + (1 << 20))


class FewDescriptors(unittest.TestCase):
    """A process limited to 160 descriptors."""

    def setUp(self):
        self.db = self.enterContext(Database())
        self.server = self.enterContext(Server(self.db.conninfo, "--threads", "1", "--db-connections", "4",
                                               binary=self.limited_binary(160)))
        self.server.wait_ready()

    def limited_binary(self, descriptors):
        """A script that lowers the limit and then execs the server."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        path = os.path.join(folder, "restante")
        with open(path, "w") as script:
            script.write(f'#!/bin/sh\nulimit -n {descriptors}\nexec "{os.path.abspath(BINARY)}" "$@"\n')
        os.chmod(path, 0o755)
        return path

    def test_more_clients_than_descriptors(self):
        """Those that fit are served, the rest wait or replace one that has been idle, and nothing spins."""
        wires = [Wire(self.server.address) for _ in range(300)]
        try:
            served = 0
            for wire in wires:
                wire.socket.settimeout(0.5)
                try:
                    wire.send(GET)
                    served += wire.read_answer().status == 200
                except (TimeoutError, ConnectionError):
                    break
            self.assertGreater(served, 30)
            cpu = self.server.cpu_seconds()
            time.sleep(2)
            self.assertLess(self.server.cpu_seconds() - cpu, 0.5)
            self.assertLess(len(self.server.descriptors()), 160)
        finally:
            for wire in wires:
                wire.close()
        await_true(lambda: self.server.get("/healthz").status == 200, 20, "room again")


class Limited(FrontCase):
    flags = ("--max-connections", "8", "--threads", "1")

    def test_the_ninth_waits_for_a_place(self):
        """While the eight have authenticated; others would make room, which test_memory_attacked checks."""
        workspace = self.db.add_workspace()
        wires = [self.wire() for _ in range(8)]
        for wire in wires:
            wire.send(request_head("GET", f"/workspaces/{workspace.id}/pending-uploads", [
                ("Host", "test"), ("Authorization", "Bearer " + workspace.token)]))
            self.assertEqual(wire.read_answer().status, 200)
        with self.wire(timeout=1) as ninth:
            ninth.send(GET)
            with self.assertRaises(TimeoutError):
                ninth.read_answer()
            self.assertEqual(self.server.get("/healthz", metrics=True).status, 200)
            wires.pop().close()
            ninth.socket.settimeout(10)
            self.assertEqual(ninth.read_answer().status, 200)
        for wire in wires:
            wire.close()


class Ports(unittest.TestCase):
    def start_and_fail(self, *flags):
        code, out, err = run_command("serve", *flags, timeout=60)
        self.assertNotEqual(code, 0)
        self.assertEqual(out, "")
        return err

    def test_a_taken_port_is_named_with_its_flag(self):
        """Even if the other program would share it: half of the connections would end up there."""
        with Database() as db, socket.socket() as taken:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            common = ("--database-url", db.conninfo, "--metrics-listen", "127.0.0.1:0")
            text = self.start_and_fail(*common, "--listen", f"127.0.0.1:{port}")
            self.assertIn(str(port), text)
            self.assertIn("--listen", text)
            self.assertEqual(len([line for line in text.splitlines() if not line.startswith("{")]), 1, text)


if __name__ == "__main__":
    unittest.main()
