#!/usr/bin/env python3
"""Forwards to workspaces that are slow, rude or gone, and by clients that are."""

import contextlib
import pathlib
import socket
import struct
import tempfile
import threading
import unittest

from forms import CHROME, chunked, form, noise, part
from http_wire import Wire, await_true, request_head
from push_case import PushCase, Receiver, make_certificate
from server_process import Server, is_sanitized, run_command

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

        def stops_after_its_head(peer):
            peer.read_request()
            peer.socket.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            peer.read_to_end()

        def closes(peer):
            peer.socket.close()

        for outcome, script in (
                ("broken", says(b"SSH-2.0-OpenSSH\r\n\r\n")), ("broken", says(b"")), ("broken", resets),
                ("broken", closes), ("late", is_silent), ("broken", says(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx")),
                ("broken", says(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")),
                ("broken", says(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")),
                ("broken", says(b"HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n")),
                ("late", stops_after_its_head),
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

    def test_statuses_without_a_common_name_are_passed_on(self):
        big = noise(100_000, 1)
        for status in ("418 Teapot", "425 Too Early", "520 Unknown", "530 Frozen", "299 Fine"):
            for body in (b"words", big):
                def script(peer):
                    peer.read_request()
                    peer.answer(status, body)
                with self.subTest(status=status, size=len(body)), Receiver(script) as receiver:
                    answer = self.send(self.workspace_at(receiver.port), SMALL)
                    self.assertEqual((answer.status, answer.body), (int(status[:3]), body))

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
            # It need not send the rest to hear it; a server that waited for that would say 408 after 10 s.
            with Wire(self.server.address) as wire:
                wire.send(self.head(workspace, len(body)) + body[:1000])
                self.assertEqual(wire.read_answer().status, 413)
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
                        with Wire(self.server.address) as wire:
                            wire.send(self.head(workspace, len(body)) + body[:cut])
                            self.assertTrue(heads.acquire(timeout=10))
                            if reset:
                                wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                        # Sooner than any limit on progress would: those give a client 10 s.
                        await_true(lambda: seen, 8, "the connection to the workspace is cut")
                        self.assertLessEqual(seen[0], cut)

    def test_a_workspace_that_stops_reading_for_good_is_late(self):
        body = form(part(noise(24 * MIB, 1)), boundary=CHROME)
        done = threading.Event()
        self.addCleanup(done.set)

        def script(peer):
            peer.read_head()
            done.wait(30)
        with Receiver(script) as receiver:
            workspace = self.workspace_at(receiver.port)
            for length in (True, False):
                with self.subTest(length=length):
                    since = self.server.log_size()
                    sent = body if length else chunked(body, (100_000,))
                    self.assert_unreachable(self.send(workspace, sent, length), "late", since)
            done.set()

    def test_interim_answers_are_dropped(self):
        def script(peer):
            _, headers = peer.read_head()
            peer.socket.sendall(b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
            peer._read(int(headers["content-length"]))
            peer.socket.sendall(b"HTTP/1.1 102 Processing\r\n\r\n")
            peer.answer(body=b'{"done":1}')
        body = form(part(noise(MIB, 1)), boundary=CHROME)
        with Receiver(script) as receiver:
            answer = self.send(self.workspace_at(receiver.port), body)
            self.assertEqual((answer.status, answer.body), (200, b'{"done":1}'))
            self.assertNotIn("link", answer.headers)

    def test_clients_that_leave_during_the_answer_end_the_forward(self):
        """The workspace has begun to answer and thinks about the rest; nobody would notice by writing."""
        ended = []
        # Small enough to be fetched whole, large, without an end that is known, and with no body sent to it.
        for head, began in ((b"Content-Length: 100\r\n\r\n", b"x"), (b"Content-Length: 100000\r\n\r\n", b"x"),
                            (b"Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n")):
            def script(peer):
                peer.read_request()
                peer.socket.sendall(b"HTTP/1.1 200 OK\r\n" + head + began)
                peer.read_to_end()
                ended.append(True)
            for download in (False, True):
                with self.subTest(head=head, download=download), Receiver(script) as receiver:
                    ended.clear()
                    workspace = self.workspace_at(receiver.port)
                    before = self.forwards("download" if download else "upload", "client_gone")
                    with Wire(self.server.address) as wire:
                        if download:
                            wire.send(request_head("GET", f"/workspaces/{workspace.id}/chat/download?path=/workspace/a", [
                                ("Host", "test"), ("Authorization", f"Bearer {workspace.token}")]))
                        else:
                            wire.send(self.head(workspace, len(SMALL)) + SMALL)
                        await_true(lambda: receiver.accepted == 1, 5, "the workspace is called")
                        if head != b"Content-Length: 100\r\n\r\n":
                            self.assertEqual(wire.socket.recv(8), b"HTTP/1.1")
                    # Before --push-timeout, which is 3 s here.
                    await_true(lambda: ended, 2, "the connection to the workspace is cut")
                    await_true(lambda: self.forwards("download" if download else "upload", "client_gone") > before, 2,
                               "the forward is counted as left by its client")

    def test_broken_chunks_of_a_client_break_the_forward(self):
        seen = []
        with Receiver(lambda peer: seen.append(peer.read_to_end())) as receiver:
            answer = self.send(self.workspace_at(receiver.port), b"5\r\nhello\r\nzz\r\n", length=False)
            self.assertEqual(answer.status, 400)
            await_true(lambda: seen, 10, "the connection to the workspace is cut")
        self.assertFalse(seen[0].endswith(b"0\r\n\r\n"), seen[0])


class Dialling(PushCase):
    """The workspace does not take the connection. That alone would last for 10 s."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.listener = cls.enterClassContext(socket.create_server(("127.0.0.1", 0), backlog=0))
        cls.port = cls.listener.getsockname()[1]
        cls.enterClassContext(socket.create_connection(("127.0.0.1", cls.port)))  # which fills its queue

    def test_clients_that_leave_meanwhile_end_the_forward(self):
        workspace = self.workspace_at(self.port)
        body = form(part(noise(MIB, 1)), boundary=CHROME)
        download = request_head("GET", f"/workspaces/{workspace.id}/chat/download?path=/workspace/a",
                                [("Host", "test"), ("Authorization", f"Bearer {workspace.token}")])
        upload = self.head(workspace, len(body))
        for name, kind, request in (("no body yet", "upload", upload), ("some of the body", "upload", upload + body[:100_000]),
                                    ("all of a small body", "upload", self.head(workspace, len(SMALL)) + SMALL),
                                    ("a download", "download", download)):
            for reset in (False, True):
                with self.subTest(name=name, reset=reset):
                    before = self.forwards(kind, "client_gone")
                    with Wire(self.server.address) as wire:
                        wire.socket.settimeout(1)
                        with contextlib.suppress(TimeoutError):
                            wire.socket.sendall(request)
                        await_true(self.is_dialling, 10, "the workspace is being connected to")
                        if reset:
                            wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    await_true(lambda: self.forwards(kind, "client_gone") > before, 6, "the forward is counted as left")
                    await_true(lambda: not self.is_dialling(), 6, "the workspace is not connected to any more")

    def is_dialling(self):
        """Whether a connection to the listener waits for its SYN to be answered."""
        address = f"0100007F:{self.port:04X}"
        lines = pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
        return any(fields[2] == address and fields[3] == "02" for fields in map(str.split, lines))


class Slow(PushCase):
    def test_a_side_that_stops_for_good_is_not_waited_for(self):
        """Either has 10 s to make progress."""
        done, seen, answers = threading.Event(), [], {}
        self.addCleanup(done.set)
        body = form(part(noise(24 * MIB, 1)), boundary=CHROME)

        def stops_reading(peer):
            peer.read_head()
            done.wait(60)

        def stop_sending(workspace):
            with Wire(self.server.address, timeout=60) as wire:
                wire.send(self.head(workspace, len(body)) + body[:100_000])
                answers["client"] = wire.read_answer()

        def send_everything(workspace):
            answers["workspace"] = self.send(workspace, body)

        with Receiver(stops_reading) as deaf, Receiver(lambda peer: seen.append(peer.read_to_end())) as receiver:
            threads = [threading.Thread(target=stop_sending, args=(self.workspace_at(receiver.port),)),
                       threading.Thread(target=send_everything, args=(self.workspace_at(deaf.port),))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            await_true(lambda: seen, 10, "the connection to the workspace is cut")
            done.set()
        self.assertEqual({side: (answer.status, answer.json()["code"]) for side, answer in answers.items()},
                         {"client": (408, "request_timeout"), "workspace": (502, "workspace_unreachable")})
        self.assertTrue(seen[0].endswith(body[:100_000]), "what the client sent was passed on")

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
            grown = self.server.resident_bytes() - before
            print(f"\n{grown / KIB:.0f} KiB more after 100 MB", flush=True)
            # A sanitizer keeps freed memory for a while.
            self.assertLess(grown, (40 if is_sanitized(self.server.binary) else 4) * MIB)


class Tls(PushCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.right = make_certificate(folder / "right.pem")
        cls.other_host = make_certificate(folder / "other_host.pem", "DNS:elsewhere.example")
        cls.unknown = make_certificate(folder / "unknown.pem")
        roots = folder / "roots"
        roots.write_text((folder / "right.pem").read_text() + (folder / "other_host.pem").read_text())
        # Shorter than the 10 s that a workspace has to go on reading: a stall is no answer.
        cls.flags = ("--push-allow", "loopback", "--push-ca-file", str(roots), "--push-timeout", "8s")
        super().setUpClass()

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

    def test_the_roots_of_the_system_are_trusted(self):
        def script(peer):
            peer.read_request()
            peer.answer()
        with Server(self.db.conninfo, "--push-allow", "loopback",
                    environment={"SSL_CERT_FILE": str(self.folder / "right.pem")}) as server:
            server.wait_ready()
            for context, status in ((self.right, 200), (self.unknown, 502)):
                with self.subTest(status=status), Receiver(script, context) as receiver, Wire(server.address) as wire:
                    workspace, _ = self.register(f"https://localhost:{receiver.port}/", server)
                    wire.send(self.head(workspace, len(SMALL)) + SMALL)
                    self.assertEqual(wire.read_answer().status, status)

    def test_an_early_answer_behind_an_interim_one_is_seen(self):
        """Both records arrive together; the second is taken from the socket with the first."""
        body = form(part(noise(24 * MIB, 1)), boundary=CHROME)
        done = threading.Event()
        self.addCleanup(done.set)

        def script(peer):
            peer.read_head()
            peer.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
            peer.socket.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            peer.answer("413 Too Large", b"no")
            peer.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)
            done.wait(60)
        with Receiver(script, self.right) as receiver:
            workspace = self.workspace_at(receiver.port, scheme="https", host="localhost")
            answer = self.send(workspace, body)
            self.assertEqual((answer.status, answer.body), (413, b"no"))
            done.set()

    def test_a_file_without_certificates_is_refused_at_start(self):
        with tempfile.NamedTemporaryFile() as empty:
            code, _, err = run_command("serve", "--database-url", self.db.conninfo, "--push-ca-file", empty.name)
            self.assertEqual(code, 1)
            self.assertIn("--push-ca-file", err)


if __name__ == "__main__":
    unittest.main()
