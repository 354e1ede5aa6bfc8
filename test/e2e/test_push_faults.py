#!/usr/bin/env python3
"""Forwards to workspaces that are slow, rude or gone, and by clients that are."""

import pathlib
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import time
import unittest

from forms import CHROME, chunked, form, noise, part
from http_wire import Wire, await_true
from push_case import PushCase, Receiver
from server_process import Server, run_command

KIB, MIB = 1024, 1024 * 1024
SMALL = form(part("x"), boundary=CHROME)


class Faults(PushCase):
    flags = ("--push-allow", "loopback", "--push-timeout", "3s")

    def tearDown(self):
        await_true(lambda: self.server.client_connections() == 0, 20, "clients' connections closed")

    def assert_unreachable(self, answer, outcome, since):
        self.assertEqual((answer.status, answer.json()["code"], answer.json()["error"]),
                         (502, "workspace_unreachable", "workspace unreachable"))
        self.assertEqual(self.logged("forward_failed", since)[-1]["outcome"], outcome)

    def test_workspaces_that_do_not_answer_properly(self):
        def says(data):
            def script(peer):
                peer.read_request()
                peer.socket.sendall(data)
                peer.socket.close()
            return script

        def resets(peer):
            peer.read_head()
            peer.reset()

        def is_silent(peer):
            peer.read_to_end()

        def closes(peer):
            peer.socket.close()

        for outcome, script in (
                ("broken", says(b"SSH-2.0-OpenSSH\r\n\r\n")), ("broken", says(b"")), ("broken", resets),
                ("broken", closes), ("late", is_silent), ("broken", says(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx")),
                ("broken", says(b"HTTP/1.1 101 Switching\r\n\r\n")),
                ("broken", says(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 20_000 + b"\r\nContent-Length: 0\r\n\r\n"))):
            with self.subTest(script=script), Receiver(script) as receiver:
                since = self.server.log_size()
                workspace = self.workspace_at(receiver.port)
                self.assert_unreachable(self.send(workspace, SMALL), outcome, since)

    def test_nobody_there(self):
        since = self.server.log_size()
        self.assert_unreachable(self.send(self.workspace_at(1), SMALL), "unreachable", since)
        # Nor is the client asked for its body.
        with Wire(self.server.address) as wire:
            wire.send(self.head(self.workspace_at(1), 1000, [("Expect", "100-continue")]))
            self.assertEqual(wire.read_answer().status, 502)

    def test_redirects_are_passed_on_and_not_followed(self):
        for status in ("301 Moved", "302 Found", "307 Temporary", "308 Permanent"):
            def script(peer):
                peer.read_request()
                peer.answer(status, b"over there", [("Location", f"http://127.0.0.1:{receiver.port}/x")])
            with self.subTest(status=status), Receiver(script) as receiver:
                answer = self.send(self.workspace_at(receiver.port), SMALL)
                self.assertEqual((answer.status, answer.body), (int(status[:3]), b"over there"))
                self.assertNotIn("location", answer.headers)
                self.assertEqual(receiver.accepted, 1)

    def test_answers_of_every_framing(self):
        big = noise(100_000, 1)
        for head, body in ((b"Content-Length: %d\r\n\r\n" % len(big), big),
                           (b"Transfer-Encoding: chunked\r\n\r\n", chunked(big, (70_000, 1, 9))),
                           (b"\r\n", big)):
            def script(peer):
                peer.read_request()
                peer.socket.sendall(b"HTTP/1.1 201 Made\r\nContent-Type: a/b\r\nSet-Cookie: a=b\r\n" + head + body)
                peer.socket.close()
            with self.subTest(head=head), Receiver(script) as receiver, Wire(self.server.address) as wire:
                wire.send(self.head(self.workspace_at(receiver.port), len(SMALL)) + SMALL)
                answer = wire.read_answer()
                self.assertEqual((answer.status, answer.body, answer.headers["content-type"]), (201, big, "a/b"))
                self.assertNotIn("set-cookie", answer.headers)
                # The connection stays usable.
                wire.send(b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n")
                self.assertEqual(wire.read_answer().status, 200)

    def test_a_broken_answer_is_not_passed_on_as_whole(self):
        for head in (b"Content-Length: 200000\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n30d40\r\n"):
            def script(peer):
                peer.read_request()
                peer.socket.sendall(b"HTTP/1.1 200 OK\r\n" + head + bytes(100_000))
                peer.socket.close()
            with self.subTest(head=head), Receiver(script) as receiver:
                with self.assertRaises(ConnectionError):
                    self.send(self.workspace_at(receiver.port), SMALL)

    def test_early_answers(self):
        """A workspace that answers before it has read the body, and then stops reading."""
        body = form(part(noise(24 * MIB, 1)), boundary=CHROME)
        done = threading.Event()
        self.addCleanup(done.set)

        def script(peer):
            peer.read_head()
            peer.answer("413 Too Large", b"no")
            done.wait(30)
        with Receiver(script) as receiver:
            workspace = self.workspace_at(receiver.port)
            for length in (True, False):
                answer = self.send(workspace, body if length else chunked(body, (100_000,)), length)
                self.assertEqual((answer.status, answer.body), (413, b"no"))
            # A client that is slow to send does not delay the answer.
            begun = time.monotonic()
            with Wire(self.server.address) as wire:
                wire.send(self.head(workspace, len(body)) + body[:1000])
                self.assertEqual(wire.read_answer().status, 413)
            self.assertLess(time.monotonic() - begun, 2)
            done.set()

    def test_too_large_never_becomes_a_whole_request(self):
        seen = []
        with Receiver(lambda peer: seen.append(peer.read_to_end())) as receiver, \
                Server(self.db.conninfo, "--push-allow", "loopback", "--max-request-bytes", "1MiB",
                       "--max-file-bytes", "1MiB") as server:
            server.wait_ready()
            workspace, _ = self.register(f"http://127.0.0.1:{receiver.port}/", server)
            body = form(part(noise(2 * MIB, 1)), boundary=CHROME)
            for length in (True, False):
                with Wire(server.address) as wire:
                    sent = body if length else chunked(body, (60_000,))
                    wire.send_what_is_taken([self.head(workspace, len(body) if length else None), sent])
                    answer = wire.read_answer()
                self.assertEqual((answer.status, answer.json()["code"], answer.json()["max"]),
                                 (413, "request_too_large", MIB))
            await_true(lambda: len(seen) == 1, 10, "the connection to the workspace is cut")
        self.assertGreater(len(seen[0]), MIB)
        self.assertNotIn(b"\r\n0\r\n\r\n", seen[0][-7:])

    def test_clients_that_leave_end_the_forward(self):
        seen, heads = [], threading.Semaphore(0)

        def script(peer):
            peer.read_head()
            heads.release()
            seen.append(len(peer.read_to_end()))
        body = form(part(noise(MIB, 1)), boundary=CHROME)
        with Receiver(script) as receiver:
            workspace = self.workspace_at(receiver.port)
            # In the middle of the body, and while the answer is awaited; by FIN and by reset.
            for cut in (len(body) // 2, len(body)):
                for reset in (False, True):
                    with self.subTest(cut=cut, reset=reset):
                        seen.clear()
                        begun = time.monotonic()
                        with Wire(self.server.address) as wire:
                            wire.send(self.head(workspace, len(body)) + body[:cut])
                            self.assertTrue(heads.acquire(timeout=10))
                            if reset:
                                wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                        await_true(lambda: seen, 10, "the connection to the workspace is cut")
                        self.assertLess(time.monotonic() - begun, 2.5)
                        self.assertLessEqual(seen[0], cut)

    def test_broken_chunks_of_a_client_break_the_forward(self):
        seen = []
        with Receiver(lambda peer: seen.append(peer.read_to_end())) as receiver:
            answer = self.send(self.workspace_at(receiver.port), b"5\r\nhello\r\nzz\r\n", length=False)
            self.assertEqual(answer.status, 400)
            await_true(lambda: seen, 10, "the connection to the workspace is cut")
        self.assertFalse(seen[0].endswith(b"0\r\n\r\n"), seen[0])


class Slow(PushCase):
    def test_a_slow_workspace_slows_the_client(self):
        """It reads nothing at first: the client can send only what the buffers on the way hold."""
        go = threading.Event()
        self.addCleanup(go.set)
        size = 24 * MIB
        body = form(part(noise(size, 1)), boundary=CHROME)
        got = []

        def script(peer):
            peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * KIB)
            go.wait(30)
            got.append(peer.read_request()[2])
            peer.answer()
        with Receiver(script) as receiver, Wire(self.server.address, timeout=30) as wire:
            workspace = self.workspace_at(receiver.port)
            wire.send(self.head(workspace, len(body)))
            wire.socket.settimeout(1)
            sent = 0
            with self.assertRaises(TimeoutError):
                while sent < len(body):
                    sent += wire.socket.send(body[sent:sent + 64 * KIB])
            self.assertLess(sent, len(body) - MIB)
            go.set()
            wire.socket.settimeout(30)
            wire.socket.sendall(body[sent:])
            self.assertEqual(wire.read_answer().status, 200)
        self.assertEqual(got, [body])

    def test_a_slow_client_is_waited_for(self):
        body = form(part(noise(40 * KIB, 1)), boundary=CHROME)
        got = []

        def script(peer):
            got.append(peer.read_request()[2])
            peer.answer()
        with Receiver(script) as receiver, Wire(self.server.address) as wire:
            wire.send(self.head(self.workspace_at(receiver.port), len(body)))
            for at in range(0, len(body), 4 * KIB):
                wire.send(body[at:at + 4 * KIB])
                threading.Event().wait(0.1)
            self.assertEqual(wire.read_answer().status, 200)
        self.assertEqual(got, [body])

    def test_100_mb_of_answer_pass_through_little_memory(self):
        size, block = 100_000_000, noise(MIB, 1)
        wanted = (block * (size // MIB + 1))[:size]

        def script(peer):
            peer.read_request()
            peer.socket.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
            peer.socket.sendall(wanted)
        with Receiver(script) as receiver:
            before = self.server.resident_bytes()
            answer = self.send(self.workspace_at(receiver.port), SMALL)
            self.assertEqual(answer.status, 200)
            self.assertTrue(answer.body == wanted)
            self.assertLess(self.server.resident_bytes() - before, 40 * MIB)


class Tls(PushCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.right = cls.certificate(folder, "right", "DNS:localhost,IP:127.0.0.1")
        cls.other_host = cls.certificate(folder, "other_host", "DNS:elsewhere.example")
        cls.unknown = cls.certificate(folder, "unknown", "DNS:localhost,IP:127.0.0.1")
        roots = folder / "roots"
        roots.write_text((folder / "right.pem").read_text() + (folder / "other_host.pem").read_text())
        cls.flags = ("--push-allow", "loopback", "--push-ca-file", str(roots))
        super().setUpClass()

    @staticmethod
    def certificate(folder, name, names):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-days", "2", "-subj", f"/CN={name}", "-addext", f"subjectAltName={names}",
                        "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.pem"],
                       check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / f"{name}.pem", folder / f"{name}.key")
        return context

    def test_only_the_right_certificate_gets_the_secret(self):
        def script(peer):
            while True:
                peer.read_request()
                peer.answer()
        body = form(part(noise(MIB, 1)), boundary=CHROME)
        for context, host, status in ((self.right, "localhost", 200), (self.right, "127.0.0.1", 200),
                                      (self.other_host, "localhost", 502), (self.unknown, "localhost", 502)):
            with self.subTest(host=host, status=status), Receiver(script, context) as receiver:
                workspace = self.workspace_at(receiver.port, scheme="https", host=host)
                for _ in range(2):
                    self.assertEqual(self.send(workspace, body).status, status)

    def test_a_file_without_certificates_is_refused_at_start(self):
        with tempfile.NamedTemporaryFile() as empty:
            code, _, err = run_command("serve", "--database-url", self.db.conninfo, "--push-ca-file", empty.name)
            self.assertEqual(code, 1)
            self.assertIn("--push-ca-file", err)


if __name__ == "__main__":
    unittest.main()
