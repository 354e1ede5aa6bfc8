#!/usr/bin/env python3
"""GET /workspaces/{id}/pending-uploads/{file_id}/content: ranges, conditions, digests, safety fields, slow clients."""

import base64
import hashlib
import os
import socket
import threading
import time
import unittest
import uuid

from forms import noise
from http_wire import Wire, await_true
from inbox_case import InboxCase
from pg_proxy import PostgresProxy, Strike
from server_process import Server, release_binary
from testbed import Database

MIB = 1 << 20

# A sanitizer keeps freed memory in quarantine, which would count as the server's.
os.environ.setdefault("ASAN_OPTIONS", "quarantine_size_mb=4")


class Content(InboxCase):
    def test_all_fields_of_a_whole_file(self):
        content = noise(5000, 1)
        file = self.stage(content, "my report.pdf", "application/pdf")
        answer = self.get(self.content_path(file))
        self.assertEqual((answer.status, answer.body), (200, content))
        digest = hashlib.sha256(content).digest()
        expected = {
            "content-type": "application/pdf", "content-length": "5000", "etag": f'"{digest.hex()}"',
            "content-disposition": "attachment; filename=\"my_report.pdf\"; filename*=UTF-8''my_report.pdf",
            "repr-digest": f"sha-256=:{base64.b64encode(digest).decode()}:", "accept-ranges": "bytes",
            "cache-control": "private, no-store", "content-security-policy": "sandbox; default-src 'none'",
            "cross-origin-resource-policy": "same-origin", "x-content-type-options": "nosniff"}
        self.assertEqual({name: answer.headers.get(name) for name in expected}, expected)
        self.assertEqual(self.get(self.content_path(self.stage(b"x", "x", ""))).headers["content-type"],
                         "application/octet-stream")

    def test_sizes_around_every_threshold_whole_and_in_part(self):
        for size in (1, 2, 65_536, MIB - 1, MIB, MIB + 1, 2 * MIB + 262_144, 25 * MIB):
            with self.subTest(size=size):
                content = noise(size, size)
                file = self.stage(content)
                path = self.content_path(file)
                self.assertTrue(self.get(path).body == content)
                for spec, first, end in ((f"0-0", 0, 1), (f"{size - 1}-", size - 1, size), ("-1", size - 1, size),
                                         (f"{size // 3}-{size // 2}", size // 3, size // 2 + 1),
                                         (f"0-{size * 2}", 0, size), (f"-{size * 2}", 0, size)):
                    part = self.get(path, headers=[("Range", "bytes=" + spec)])
                    self.assertEqual(part.status, 206, spec)
                    self.assertTrue(part.body == content[first:end], spec)
                    self.assertEqual(part.headers["content-range"], f"bytes {first}-{end - 1}/{size}")
                refused = self.get(path, headers=[("Range", f"bytes={size}-")])
                self.assertEqual((refused.status, refused.headers["content-range"]), (416, f"bytes */{size}"))
                self.assertEqual(refused.json()["code"], "range_not_satisfiable")

    def test_ranges_that_are_ignored_and_conditions(self):
        content = noise(1000, 3)
        file = self.stage(content)
        path, tag = self.content_path(file), f'"{file["sha256"]}"'
        for value in ("bytes=0-1,3-4", "lines=1-2", "bytes=5-2", "bytes=x", "bytes=-"):
            answer = self.get(path, headers=[("Range", value)])
            self.assertEqual((answer.status, answer.body), (200, content), value)
        for if_range, status in ((tag, 206), (f"W/{tag}", 200), ('"other"', 200), ("Tue, 15 Nov 1994 12:45:26 GMT", 200)):
            answer = self.get(path, headers=[("Range", "bytes=0-9"), ("If-Range", if_range)])
            self.assertEqual(answer.status, status, if_range)
        for tags, status in ((tag, 304), (f"W/{tag}", 304), (f'"a", {tag}', 304), ("*", 304), ('"a"', 200)):
            answer = self.get(path, headers=[("If-None-Match", tags)])
            self.assertEqual((answer.status, answer.headers["etag"]), (status, tag), tags)
            self.assertEqual(answer.body, b"" if status == 304 else content)
        # A failed condition takes precedence over the range.
        self.assertEqual(self.get(path, headers=[("If-None-Match", tag), ("Range", "bytes=9999-")]).status, 304)

    def test_head_tells_the_same_and_sends_nothing(self):
        for size in (10, 3 * MIB):
            file = self.stage(noise(size, size))
            path = self.content_path(file)
            head, whole = self.call("HEAD", path), self.get(path)
            ignored = ("date", "x-request-id")
            self.assertEqual({k: v for k, v in head.headers.items() if k not in ignored},
                             {k: v for k, v in whole.headers.items() if k not in ignored})
            with Wire(self.server.address) as wire:  # and the connection stays usable
                wire.send(self.head("HEAD", path) + self.head("GET", path))
                wire.read_answer(head_only=True)
                self.assertEqual(len(wire.read_answer().body), size)

    def test_what_is_not_there(self):
        file = self.stage(b"x")
        other = self.db.add_workspace()
        unknown = self.get(f"/pending-uploads/{uuid.uuid4()}/content")
        foreign = self.get(self.content_path(file), other)
        self.assertEqual((unknown.status, unknown.json()["error"]),
                         (404, "pending upload not found, expired, or already acked"))
        self.assertEqual((foreign.status, foreign.body), (404, unknown.body))
        self.assertEqual(self.get("/pending-uploads/x/content").json()["error"], "invalid file_id")
        self.assertEqual(self.call("PUT", self.content_path(file)).headers["allow"], "GET, HEAD, OPTIONS")
        self.post(self.ack_path(file))
        self.assertEqual(self.get(self.content_path(file)).status, 404)
        self.assertEqual(self.get(self.content_path(file) + "?recover=true").body, b"x")
        late = self.stage(b"y")
        self.db.session.query(f"UPDATE pending_uploads SET expires_at = now() WHERE file_id = '{late['file_id']}'")
        for suffix in ("", "?recover=true"):
            self.assertEqual(self.get(self.content_path(late) + suffix).status, 404)

    def fetched_at(self, file):
        return self.db.session.value(f"SELECT fetched_at FROM pending_uploads WHERE file_id = '{file['file_id']}'")

    def test_a_fetch_is_stamped_after_its_last_byte_and_only_then(self):
        for size in (100, 20 * MIB):  # the second exceeds the socket buffers
            file, marker = self.stage(noise(size, size)), self.stage(b"marker")
            path = self.content_path(file)
            self.call("HEAD", path)
            self.get(path, headers=[("Range", "bytes=0-50")])
            self.get(path, headers=[("If-None-Match", "*")])
            with Wire(self.server.address) as wire:
                wire.send(self.head("GET", path))
                wire.socket.recv(10)  # then disconnects
            # Stamps are written in order, so once this one is there the others would be too.
            self.get(self.content_path(marker))
            await_true(lambda: self.fetched_at(marker), 10, "the marker is stamped")
            if size > MIB:
                self.assertIsNone(self.fetched_at(file))
            self.get(path, headers=[("Range", "bytes=51-")])
            first = await_true(lambda: self.fetched_at(file), 10, "the end of the file is stamped")
            self.get(path)
            await_true(lambda: self.fetched_at(file) > first, 10, "the latest fetch wins")
        lines = [line for line in self.server.log_lines() if line["event"] == "upload_fetched"]
        self.assertLessEqual({"ts", "level", "request_id", "workspace_id", "file_id", "size", "name", "mimetype",
                              "duration_ms", "remote"}, lines[-1].keys())


class AfterAck(InboxCase):
    flags = ("--content-after-ack", "until-sweep", "--sweep-interval", "1h")

    def test_an_acked_file_is_served_until_the_sweep_takes_it(self):
        file = self.stage(b"preview", "a.txt", "text/plain")
        before = self.get(self.content_path(file))
        for _ in range(2):
            self.assertEqual(self.post(self.ack_path(file)).json(), {"acked": True})
            after = self.get(self.content_path(file))
            self.assertEqual((after.status, after.body), (200, b"preview"))
            changing = ("date", "x-request-id")
            self.assertEqual({name: value for name, value in after.headers.items() if name not in changing},
                             {name: value for name, value in before.headers.items() if name not in changing})
        self.assertEqual(self.get(self.content_path(file), self.db.add_workspace()).status, 404)
        self.assertEqual(self.get("/pending-uploads").json(), [])
        self.db.session.query(f"DELETE FROM pending_uploads WHERE file_id = '{file['file_id']}'")
        self.assertEqual(self.get(self.content_path(file)).status, 404)


class HeldRows(InboxCase):
    """A database that keeps back the end of what it is asked for."""

    @classmethod
    def setUpClass(cls):
        cls.db = cls.enterClassContext(Database())
        cls.proxy = cls.enterClassContext(PostgresProxy(cls.db.conninfo, mark="SELECT substring(content"))
        cls.server = cls.enterClassContext(Server(cls.proxy.conninfo))
        cls.server.wait_ready()

    def test_the_first_bytes_of_a_large_row_do_not_wait_for_the_last(self):
        content = noise(8 * MIB, 51)
        file = self.stage(content)
        self.proxy.arm(Strike.HOLD_BEFORE_COMMIT)
        self.addCleanup(self.proxy.release)
        with Wire(self.server.address, timeout=60) as wire:
            wire.send(self.head("GET", self.content_path(file), headers=[("Connection", "close")]))
            self.assertIn(b" 200 ", wire._read_until(b"\r\n\r\n"))
            body = wire._read(MIB // 4)
            self.assertTrue(self.proxy.struck.wait(20), "the last of it was asked for")
            self.proxy.release()
            body += wire._read(len(content) - len(body))
        self.assertTrue(body == content)


class DamagedRows(InboxCase):
    def test_bytes_of_a_row_that_do_not_match_their_digest_are_never_whole(self):
        for size in (1, 10_000, MIB, 3 * MIB):
            with self.subTest(size=size):
                file = self.stage(noise(size, 11))
                self.assertTrue(self.get(self.content_path(file)).body == noise(size, 11))
                since = self.server.log_size()
                self.db.session.query("UPDATE pending_uploads SET content = set_byte(content, 0, 255 - get_byte(content, 0)) "
                                      f"WHERE file_id = '{file['file_id']}'")
                try:
                    self.assertEqual(self.get(self.content_path(file)).json()["code"], "content_lost")
                    self.assertLessEqual(size, MIB)
                except (OSError, EOFError):
                    self.assertGreater(size, MIB)  # cut short
                lines = [line["file_id"] for line in self.server.log_lines(since) if line["event"] == "content_lost"]
                self.assertEqual(lines, [file["file_id"]])


class SlowClients(InboxCase):
    binary = release_binary()  # sanitizers use additional memory

    def test_twenty_slow_downloads_hold_no_connection_and_little_memory(self):
        content = noise(20 * MIB, 9)
        file = self.stage(content)
        before = self.server.resident_bytes()
        wires = [self.enterContext(Wire(self.server.address)) for _ in range(20)]
        for wire in wires:
            wire.send(self.head("GET", self.content_path(file)))
        for wire in wires:
            self.assertEqual(wire.socket.recv(12, socket.MSG_PEEK), b"HTTP/1.1 200")
        busy = ("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle' "
                "AND pid <> pg_backend_pid()")
        await_true(lambda: self.db.session.value(busy) in (0, "0"), 10, "no session works for a slow client")
        self.assertLess(self.server.resident_bytes() - before, 20 * 2 * MIB)
        # The file is deleted while they read; none of them is affected.
        self.db.session.query(f"DELETE FROM pending_uploads WHERE file_id = '{file['file_id']}'")
        with Wire(self.server.address) as late:
            late.send(self.head("GET", self.content_path(file)))
            self.assertEqual(late.read_answer().status, 404)
        for wire in wires[:5]:
            self.assertTrue(wire.read_answer().body == content)


class SweptMeanwhile(InboxCase):
    flags = ("--sweep-interval", "100ms", "--ack-retention", "1ms")

    def test_no_answer_is_cut_short(self):
        """Files are acked and swept while others fetch them: each fetch is whole or 404."""
        stop = threading.Event()
        seen = {200: 0, 404: 0}
        wrong = []

        def fetch(file, size):
            with Wire(self.server.address, timeout=60) as wire:
                while not stop.is_set():
                    wire.send(self.head("GET", self.content_path(file)))
                    answer = wire.read_answer()  # raises if it is shorter than announced
                    seen[answer.status] += 1
                    if answer.status == 404:
                        return
                    if len(answer.body) != size:
                        wrong.append((size, len(answer.body)))

        end = time.monotonic() + 60
        rounds = 0
        while sum(seen.values()) < 1500 and time.monotonic() < end:
            rounds += 1
            files = [(self.stage(noise(size, rounds)), size) for size in (100, 300_000, 3 * MIB)]
            fetchers = [threading.Thread(target=fetch, args=each) for each in files for _ in range(2)]
            for fetcher in fetchers:
                fetcher.start()
            await_true(lambda: seen[200] >= rounds * 20, 20, "some fetches")
            self.post("/pending-uploads/ack", {"file_ids": [file["file_id"] for file, _ in files]})
            for fetcher in fetchers:
                fetcher.join(60)
        stop.set()
        self.assertEqual(wrong, [])
        self.assertGreater(seen[200], 200)
        self.assertEqual(seen[404], rounds * 6)


if __name__ == "__main__":
    unittest.main()
