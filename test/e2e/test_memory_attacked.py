#!/usr/bin/env python3
"""Clients that make the server hold memory, disk, database connections or places: each gets a share, and the
others are still served."""

import json
import select
import socket
import time
import unittest
import uuid

from forms import CHROME, form, noise, part
from front_case import FrontCase
from http_wire import Wire, await_true, request_head
from inbox_case import InboxCase
from server_process import is_sanitized, release_binary
from testbed import upload, upload_head

KIB, MIB = 1024, 1024 * 1024
IN_A_ROW = 8  # requests on one connection: the kernel takes the first answers, up to 4 MiB


def open_all(test, count, address):
    return [test.enterContext(Wire(address, timeout=20)) for _ in range(count)]


def await_answers(wires, least, within=60):
    """Waits until so many of the connections have bytes to read."""
    def answered():
        return len(select.select([wire.socket for wire in wires], [], [], 0)[0]) >= least
    await_true(answered, within, f"{least} of {len(wires)} were answered")


class Held(InboxCase):
    """32 MiB for everything that clients make the server hold. The limits on resident memory apply to the
    release build: a sanitizer keeps freed memory and shadows."""

    flags = ("--body-memory", "32MiB")
    binary = release_binary()

    def assert_grown_less(self, before, limit, what):
        grown = self.server.resident_bytes(peak=True) - before
        print(f"\n{what}: {grown / MIB:.0f} MiB ({self.server.binary})", flush=True)
        if not is_sanitized(self.server.binary):
            self.assertLess(grown, limit)

    def assert_held(self, use):
        name = f'molecule_body_memory_bytes{{use="{use}"}}'
        await_true(lambda: self.server.metrics().get(name, 0) > MIB, 20, f"{name} is charged")

    def add_rows(self, count, **columns):
        """Rows of the feed, written by SQL. Columns are SQL expressions."""
        self.db.session.query(
            f"INSERT INTO activity_logs (id, workspace_id, seq, activity_type, created_at, {', '.join(columns)}) "
            f"SELECT gen_random_uuid(), '{self.workspace.id}', i, 'a2a_receive', now(), {', '.join(columns.values())} "
            f"FROM generate_series(1, {count}) AS i")

    def assert_others_are_served(self):
        other = self.db.add_workspace()
        message = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"text": "x" * 200_000}}
        self.assertEqual(self.post("/a2a", message, other).status, 200)
        answer = self.get("/activity?since_seq=0&limit=500", other)
        self.assertEqual((answer.status, len(answer.json())), (200, 1))

    def test_pages_that_nobody_reads(self):
        body = "to_json(repeat('x', 16300))"
        self.add_rows(500, request_body=body, response_body=body, tool_trace=body)
        before = self.server.forget_peak()
        wires = open_all(self, 20, self.server.address)
        for wire in wires:
            wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            wire.send(self.head("GET", "/activity?since_seq=0&limit=500") * IN_A_ROW)
        await_answers(wires, len(wires))
        self.assert_grown_less(before, 64 * MIB, "20 unread pages")
        self.assert_held("answer")
        self.assert_others_are_served()

    def test_a_page_ends_early_and_none_is_lost(self):
        """Whatever makes rows large: bodies, or texts that have no limit of their own."""
        self.add_rows(60, error_detail="repeat('e', 200000)", request_body="to_json(repeat('x', 16300))")
        seen, pages = [], 0
        while rows := self.get(f"/activity?since_seq={seen[-1] if seen else 0}&limit=500").json():
            self.assertLess(sum(len(json.dumps(row)) for row in rows), 3 * MIB)
            seen += [row["seq"] for row in rows]
            pages += 1
        self.assertEqual(seen, list(range(1, 61)))
        self.assertGreater(pages, 4)
        newest = [row["seq"] for row in self.get("/activity?limit=500").json()]
        self.assertEqual(newest, list(range(60, 60 - len(newest), -1)))

    def half_register(self, wire):
        body = json.dumps({"id": str(uuid.uuid4()), "agent_card": {"text": "x" * (MIB - 200)}}).encode()
        head = request_head("POST", "/registry/register", [
            ("Host", "127.0.0.1"), ("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
        wire.send_what_is_taken([head + body[:-1]])

    def test_bodies_of_strangers_that_do_not_end(self):
        before = self.server.forget_peak()
        wires = open_all(self, 150, self.server.address)
        for wire in wires:
            self.half_register(wire)
        await_answers(wires, 140)
        self.assert_grown_less(before, 24 * MIB, "150 half-sent bodies without a token")
        figures = self.server.metrics()
        self.assertLessEqual(figures['molecule_body_memory_bytes{use="stranger"}'], 4 * MIB)
        self.assertGreater(figures['molecule_body_memory_refused_total{use="stranger"}'], 100)
        self.assertEqual(wires[-1].read_answer().json()["code"], "no_room")
        self.assert_others_are_served()

    def test_small_files_that_nobody_reads(self):
        file = self.stage(noise(MIB - 10, 7))
        before = self.server.forget_peak()
        wires = open_all(self, 150, self.server.address)
        for wire in wires:
            wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            wire.send(self.head("GET", self.content_path(file)) * IN_A_ROW)
        await_answers(wires, len(wires))
        self.assert_held("download")
        self.assert_grown_less(before, 64 * MIB, "150 unread downloads of 1 MiB")
        self.assert_others_are_served()

    def tearDown(self):
        self.doCleanups()
        await_true(lambda: self.server.client_connections() == 0, 40, "clients' connections closed")
        held = [value for name, value in self.server.metrics().items() if "body_memory_bytes" in name]
        self.assertEqual(held, [0] * len(held))


class HungUp(InboxCase):
    binary = release_binary()

    def test_downloads_whose_clients_are_gone_stop(self):
        """80 downloads that hang up at once. Each costs a slice and not the whole file."""
        file, other = self.stage(noise(20_000_000, 3)), self.db.add_workspace()
        begun = time.monotonic()
        self.assertEqual(self.get(self.content_path(file)).status, 200)
        one = time.monotonic() - begun
        for wire in open_all(self, 80, self.server.address):
            wire.send(self.head("GET", self.content_path(file)))
            wire.close()
        begun = time.monotonic()
        body = form(part(noise(3_000_000, 4), "a.bin"), boundary=CHROME)
        self.assertEqual(upload(self.server.address, other, body, CHROME).status, 200)
        took = time.monotonic() - begun
        print(f"\none download {one:.2f} s, then an upload of 3 MB {took:.2f} s", flush=True)
        self.assertLess(took, 8 * one)


class Spools(InboxCase):
    flags = ("--spool-limit", "100000000")

    def begin_upload(self, workspace, size):
        wire = self.enterContext(Wire(self.server.address, timeout=5))
        wire.send(upload_head(workspace, CHROME, size, [("Expect", "100-continue")]))
        return wire.read_answer(), wire

    def test_one_workspace_leaves_room_for_the_others(self):
        """Announced is as good as sent: of two that do not fit together, the second is refused before its
        body, and nobody can take what the others need."""
        other = self.db.add_workspace()
        first, holder = self.begin_upload(self.workspace, 45_000_000)
        self.assertEqual(first.status, 100)
        again, _ = self.begin_upload(self.workspace, 45_000_000)
        self.assertEqual((again.status, again.json()["code"]), (503, "no_room"))
        too_much, _ = self.begin_upload(other, 45_000_000)
        self.assertEqual(too_much.status, 503)
        body = form(part(noise(20_000_000, 4), "a.bin"), boundary=CHROME)
        self.assertEqual(upload(self.server.address, other, body, CHROME).status, 200)
        holder.close()
        await_true(lambda: self.server.metrics()["molecule_spool_bytes"] == 0, 10, "the disk is given back")
        self.assertGreaterEqual(self.server.metrics()["molecule_spool_refused_total"], 2)
        self.assertEqual(self.begin_upload(other, 45_000_000)[0].status, 100)


class Strangers(FrontCase):
    flags = ("--max-connections", "60")

    def ready(self, address, timeout=5):
        with Wire(address, timeout=timeout) as wire:
            wire.send(request_head("GET", "/readyz", [("Host", "127.0.0.1"), ("Connection", "close")]))
            return wire.read_answer().status

    def attack(self, count, address, data):
        wires = []
        for _ in range(count):
            wires.append(self.enterContext(Wire(address, timeout=5)))
            if data:
                wires[-1].send_what_is_taken([data])
        return wires

    def test_silent_ones_make_room(self):
        for data in (b"", b"GET /readyz HTT",
                     b"POST /registry/register HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                     b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"):
            with self.subTest(data=data):
                self.attack(70, self.server.address, data)
                self.assertEqual([self.ready(self.server.address) for _ in range(5)], [200] * 5)
        self.assertGreater(self.server.metrics()['molecule_anonymous_connections_closed_total{reason="replaced"}'], 0)

    def test_on_the_metrics_listener_too(self):
        for data in (b"", b"GET /metr", b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{"):
            with self.subTest(data=data):
                self.attack(20, self.server.metrics_address, data)
                self.assertEqual([self.ready(self.server.metrics_address) for _ in range(5)], [200] * 5)

    def test_whoever_has_authenticated_stays(self):
        workspace = self.db.add_workspace()
        with self.wire() as known:
            poll = request_head("GET", f"/workspaces/{workspace.id}/pending-uploads", [
                ("Host", "127.0.0.1"), ("Authorization", "Bearer " + workspace.token)])
            known.send(poll)
            self.assertEqual(known.read_answer().status, 200)
            self.attack(150, self.server.address, b"")
            self.assertEqual(self.ready(self.server.address), 200)
            known.send(poll)
            self.assertEqual(known.read_answer().status, 200)

    def tearDown(self):
        self.doCleanups()
        super().tearDown()


if __name__ == "__main__":
    unittest.main()
