#!/usr/bin/env python3
"""Uploads that end early, and more concurrent ones than fit into memory."""

import hashlib
import socket
import struct
import threading
import unittest

from forms import CHROME, form, noise, part
from http_wire import Wire, await_true
from server_process import is_sanitized, release_binary
from testbed import upload_head
from upload_case import UploadCase

KIB, MIB = 1024, 1024 * 1024


class ClientGone(UploadCase):
    def test_gone_at_every_tenth(self):
        """By FIN and by reset, with a small body that stays in memory and a large one that is spooled to
        disk."""
        before = self.db.counts()
        for size in (200 * KIB, 8 * MIB):
            body = form(part(noise(size // 2, 1), "a"), part(noise(size // 2, 2), "b"), boundary=CHROME)
            for tenth in range(10):
                for way in ("fin", "reset"):
                    with self.subTest(size=size, tenth=tenth, way=way):
                        self.leave_at(body, len(body) * tenth // 10, way)
        self.assertEqual(self.db.counts(), before)
        self.assert_quiet()
        self.assertEqual(self.server.metrics().get("molecule_spool_bytes", 0), 0)

    def leave_at(self, body, cut, way):
        with Wire(self.server.address) as wire:
            wire.send(upload_head(self.workspace, CHROME, len(body)) + body[:cut])
            if cut > MIB + 256 * KIB:
                await_true(self.server.spool_files, 5, "the body is being spooled")
            # No transaction may be open while a body is being read.
            self.assertEqual(self.open_transactions(), [])
            if way == "reset":
                wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await_true(lambda: self.server.client_connections() == 0, 5, "the connection is gone")
        await_true(lambda: not self.server.spool_files(), 5, "the spool is empty")


class ClientGoneAtTheEnd(UploadCase):
    """With a database of its own: what was received completely may be stored a moment after its client has gone."""

    def test_gone_after_the_last_byte(self):
        """A client that does not wait for its response: stored completely or not at all."""
        workspace, contents = self.db.add_workspace(), [noise(300 * KIB, i) for i in range(3)]
        body = form(*[part(content) for content in contents], boundary=CHROME)
        for _ in range(10):
            with Wire(self.server.address) as wire:
                wire.send(upload_head(workspace, CHROME, len(body)) + body)
                wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.assert_quiet()
        stored = self.db.files(workspace)
        self.assertEqual(len(stored) % 3, 0)
        digests = [hashlib.sha256(content).hexdigest() for content in contents]
        self.assertEqual([row[4] for row in stored], digests * (len(stored) // 3))


class ManyLarge(UploadCase):
    """64 concurrent uploads of 25 MB with 64 MiB for bodies. The limit on resident memory applies to the
    release build: a sanitizer keeps freed memory and shadows. Without a release build the test says so and
    skips that check."""

    flags = ("--body-memory", "64MiB")
    binary = release_binary()
    senders = 64
    size = 25_000_000

    def test_all_stored_and_memory_stays_small(self):
        base = noise(self.size - 8, 64)
        workspaces = [self.db.add_workspace() for _ in range(self.senders)]
        answers = [None] * self.senders

        def send(index):
            content = struct.pack("!Q", index) + base
            head, tail = form(part(b"\x00MARK\x00", f"{index}.bin"), boundary=CHROME).split(b"\x00MARK\x00")
            with Wire(self.server.address, timeout=120) as wire:
                wire.send(upload_head(workspaces[index], CHROME, len(head) + self.size + len(tail)))
                for piece in (head, content, tail):
                    wire.send(piece)
                answers[index] = wire.read_answer()

        threads = [threading.Thread(target=send, args=(index,)) for index in range(self.senders)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        refused = {answer.status for answer in answers if answer is None or answer.status != 200}
        self.assertFalse(refused, f"{sum(a.status == 200 for a in answers if a)} of {self.senders} stored")
        for index, workspace in enumerate(workspaces):
            (row,) = self.db.files(workspace)
            self.assertEqual(row[4], hashlib.sha256(struct.pack("!Q", index) + base).hexdigest())
        peak = self.server.resident_bytes(peak=True)
        print(f"\npeak resident memory: {peak / MIB:.0f} MiB ({self.server.binary})", flush=True)
        self.assert_quiet()
        if not is_sanitized(self.server.binary):
            self.assertLessEqual(peak, 256 * MIB)
            await_true(lambda: self.server.anonymous_bytes() < 9 * MIB, 40, "what they needed is given back")
            print(f"afterwards: {self.server.anonymous_bytes() / MIB:.1f} MiB allocated", flush=True)


if __name__ == "__main__":
    unittest.main()
