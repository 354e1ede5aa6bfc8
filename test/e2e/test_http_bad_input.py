"""Malformed requests and their responses: exactly one, with the right status, and the connection is closed if
the start of the next request is uncertain."""

import random
import socket
import subprocess
import tempfile
import unittest

from front_case import GET, FrontCase, still_answers

CLOSED, KEPT = True, False


def get(target="/healthz", fields="Host: test\r\n", version="HTTP/1.1"):
    return f"GET {target} {version}\r\n{fields}\r\n".encode("latin-1")


def post(fields, body=b"", target="/healthz"):
    return f"POST {target} HTTP/1.1\r\nHost: test\r\n{fields}\r\n".encode("latin-1") + body


CHUNKED = "Transfer-Encoding: chunked\r\n"

# name, bytes, allowed statuses, whether the connection is closed
CASES = [
    ("no version", b"GET /x\r\n\r\n", [400], CLOSED),
    ("a version from the future", get(version="HTTP/1.2"), [505], CLOSED),
    ("HTTP/2 in words", get(version="HTTP/2.0"), [505], CLOSED),
    ("the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [400, 505], CLOSED),
    ("no protocol", get(version="FTP/1.1"), [400], CLOSED),
    ("unknown method", b"BREW /healthz HTTP/1.1\r\nHost: test\r\n\r\n", [501], KEPT),
    ("known method, wrong path", b"PUT /healthz HTTP/1.1\r\nHost: test\r\n\r\n", [405], KEPT),
    ("unknown path", get("/nowhere"), [404], KEPT),
    ("/metrics is not public", get("/metrics"), [404], KEPT),
    ("target of 8,001 bytes", get("/" + "a" * 8001), [414], CLOSED),
    ("target of 100,000 bytes", get("/" + "a" * 100_000), [414], CLOSED),
    ("a header of 17 KiB", get(fields="Host: test\r\nX: " + "a" * 17_000 + "\r\n"), [431], CLOSED),
    ("a megabyte of headers", get(fields="Host: test\r\n" + "X: aaaaaaaa\r\n" * 80_000), [431], CLOSED),
    ("65 fields", get(fields="Host: test\r\n" + "X: a\r\n" * 64), [431], CLOSED),
    ("%00 in the path", get("/a%00b"), [400], KEPT),
    ("%zz in the path", get("/a%zz"), [400], KEPT),
    ("an encoded way up", get("/a/%2e%2e%2fhealthz"), [400], KEPT),
    ("a plain way up", get("/a/../healthz"), [400], KEPT),
    ("an empty segment", get("//healthz"), [400, 404], KEPT),
    ("a fragment", get("/healthz#x"), [400], KEPT),
    ("no Host", get(fields=""), [400], CLOSED),
    ("two Hosts", get(fields="Host: a\r\nHost: a\r\n"), [400], CLOSED),
    ("an empty Host", get(fields="Host:\r\n"), [400], CLOSED),
    ("bare line feeds", b"GET /healthz HTTP/1.1\nHost: test\n\n", [400], CLOSED),
    ("a bare line feed among good ones", b"GET /healthz HTTP/1.1\r\nHost: test\nX: y\r\n\r\n", [400], CLOSED),
    ("NUL in a value", get(fields="Host: test\r\nX: a\0b\r\n"), [400], CLOSED),
    ("a folded line", get(fields="Host: test\r\nX: a\r\n b\r\n"), [400], CLOSED),
    ("a blank before the colon", post("Content-Length : 5\r\n", b"hello"), [400], CLOSED),
    ("no colon", get(fields="Host: test\r\nnonsense\r\n"), [400], CLOSED),
    ("an underscore for a hyphen", post("Content_Length: 5\r\n", b"hello"), [400], CLOSED),
    ("Content-Length: +5", post("Content-Length: +5\r\n", b"hello"), [400], CLOSED),
    ("Content-Length: -1", post("Content-Length: -1\r\n"), [400], CLOSED),
    ("Content-Length: 0x5", post("Content-Length: 0x5\r\n", b"hello"), [400], CLOSED),
    ("Content-Length, empty", post("Content-Length:\r\n"), [400], CLOSED),
    ("Content-Length of 21 digits", post("Content-Length: 100000000000000000000\r\n"), [400], CLOSED),
    ("two different lengths", post("Content-Length: 5\r\nContent-Length: 6\r\n", b"hello"), [400], CLOSED),
    ("a list of lengths", post("Content-Length: 5, 5\r\n", b"hello"), [400], CLOSED),
    ("length and chunked", post("Content-Length: 5\r\n" + CHUNKED, b"0\r\n\r\n" + GET), [400], CLOSED),
    ("chunked and length", post(CHUNKED + "Content-Length: 5\r\n", b"0\r\n\r\n" + GET), [400], CLOSED),
    ("gzip as transfer", post("Transfer-Encoding: gzip\r\n"), [400, 501], CLOSED),
    ("xchunked", post("Transfer-Encoding: xchunked\r\n", b"0\r\n\r\n" + GET), [400, 501], CLOSED),
    ("chunked, gzip", post("Transfer-Encoding: chunked, gzip\r\n", b"0\r\n\r\n" + GET), [400, 501], CLOSED),
    ("identity", post("Transfer-Encoding: identity\r\n"), [400, 501], CLOSED),
    ("chunked twice", post(CHUNKED + CHUNKED, b"0\r\n\r\n"), [400, 501], CLOSED),
    ("chunked on HTTP/1.0", b"POST /healthz HTTP/1.0\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", [400],
     CLOSED),
    ("an unknown expectation", post("Expect: foo\r\nContent-Length: 5\r\n"), [417], CLOSED),
    ("GET with a body", get(fields="Host: test\r\nContent-Length: 5\r\n") + b"hello", [400], CLOSED),
    ("GET with chunks", get(fields="Host: test\r\n" + CHUNKED) + b"0\r\n\r\n", [400], CLOSED),
    ("two bearers", get(fields="Host: test\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n"), [400], CLOSED),
    ("a TLS hello", bytes.fromhex("16030100a5010000a10303") + bytes(160), [400], CLOSED),
]


class BadInput(FrontCase):
    def test_every_case(self):
        for name, data, statuses, closed in CASES:
            with self.subTest(name):
                answer, ended = self.exchange(data)
                self.assertIn(answer.status, statuses)
                self.assertEqual(ended, closed)
                self.assertIn("x-request-id", answer.headers)
                self.assertEqual(answer.headers["x-content-type-options"], "nosniff")
                self.assertEqual(answer.headers["cache-control"], "no-store")
                self.assertEqual(set(answer.json()), {"error", "code"})
                name = answer.headers["x-request-id"]
                self.assertLessEqual(sum(line.get("request_id") == name for line in self.server.log_lines()), 1)

    def test_one_answer_only_for_a_smuggled_request(self):
        for framing in ("Content-Length: 5\r\n" + CHUNKED, "Transfer-Encoding: xchunked\r\n",
                        "Transfer-Encoding: gzip\r\n"):
            with self.wire() as wire:
                wire.send(post(framing, b"0\r\n\r\n" + GET))
                self.assertIn(wire.read_answer().status, (400, 501))
                self.assertTrue(wire.is_closed())

    def test_noise(self):
        """Random bytes get a 400 or a closed connection, and nothing else."""
        noise = random.Random(7)
        for _ in range(100):
            with self.wire() as wire:
                wire.send_what_is_taken([noise.randbytes(64) + b"\r\n\r\n"])
                wire.socket.shutdown(socket.SHUT_WR)
                try:
                    self.assertIn(wire.read_answer().status, (400, 505))
                except ConnectionError:
                    pass

    def test_405_says_what_is_allowed_and_head_is_where_get_is(self):
        answer, _ = self.exchange(b"DELETE /healthz HTTP/1.1\r\nHost: test\r\n\r\n")
        self.assertEqual((answer.status, answer.headers["allow"]), (405, "GET, HEAD, OPTIONS"))
        with self.wire() as wire:
            wire.send(b"HEAD /healthz HTTP/1.1\r\nHost: test\r\n\r\n")
            answer = wire.read_answer(head_only=True)
            self.assertEqual((answer.status, answer.headers["content-length"]), (200, "15"))
            self.assertTrue(still_answers(wire))
            wire.send(b"OPTIONS * HTTP/1.1\r\nHost: test\r\n\r\n")
            self.assertEqual(wire.read_answer().status, 204)

    def test_the_clients_request_id_is_taken_when_it_is_harmless(self):
        for sent, taken in (("abcd-1234", True), ("short", False), ("a" * 65, False), ("abcd\t1234", False)):
            answer, _ = self.exchange(get(fields=f"Host: test\r\nX-Request-Id: {sent}\r\n"))
            self.assertEqual(answer.headers["x-request-id"] == sent, taken)

    def test_an_early_answer_survives_a_client_that_does_not_listen(self):
        """60 MiB to a path that does not exist: the client sends it all and still reads the 404."""
        with self.wire() as wire:
            wire.send(post(f"Content-Length: {60 << 20}\r\n", target="/nowhere"))
            block = bytes(1 << 20)
            for _ in range(60):
                wire.send(block)
            self.assertEqual(wire.read_answer().status, 404)
            self.assertTrue(wire.is_closed())

    def test_expectations_get_their_answer_instead_of_an_invitation(self):
        with self.wire() as wire:
            wire.send(post(f"Content-Length: {60 << 20}\r\nExpect: 100-continue\r\n", target="/nowhere"))
            self.assertEqual(wire.read_answer().status, 404)
            self.assertTrue(wire.is_closed())

    def test_pipelined_requests_are_answered_in_order(self):
        with self.wire() as wire:
            wire.send(GET + get("/nowhere") + get("/version"))
            self.assertEqual([wire.read_answer().status for _ in range(3)], [200, 404, 200])
            self.assertTrue(still_answers(wire))

    def test_a_head_in_pieces_of_one_byte(self):
        with self.wire() as wire:
            for byte in GET:
                wire.send(bytes([byte]))
            self.assertEqual(wire.read_answer().status, 200)

    def test_nothing_secret_is_logged(self):
        answer, _ = self.exchange(get("/nowhere?token=hidden-in-the-query",
                                      "Host: test\r\nAuthorization: Bearer hidden-in-the-field\r\n"))
        self.assertEqual(answer.status, 404)
        self.assertNotIn("hidden", self.server.log_text())
        self.assertNotIn("hidden", self.server.get("/metrics", metrics=True).body.decode())


class Curl(FrontCase):
    """A well-behaved client, with unexpected bodies."""

    def curl(self, path, *words, size=60 << 20):
        with tempfile.NamedTemporaryFile() as body:
            body.truncate(size)
            done = subprocess.run(["curl", "-sS", "-i", "-X", "POST", "--data-binary", f"@{body.name}",
                                   "-H", "Content-Type: multipart/form-data; boundary=b", *words,
                                   "http://%s:%d%s" % (*self.server.address, path)],
                                  capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_early_refusals_are_seen_with_and_without_expect(self):
        workspace = self.db.add_workspace()
        bearer = ("-H", f"Authorization: Bearer {workspace.token}")
        for expect in (("-H", "Expect: 100-continue"), ("-H", "Expect:")):
            with self.subTest(expect):
                text = self.curl(workspace.uploads, *expect)
                self.assertTrue(text.startswith("HTTP/1.1 401"), text)
                text = self.curl(workspace.uploads, *expect, *bearer)
                self.assertTrue(text.startswith("HTTP/1.1 413"), text)
        self.assertEqual(set(self.db.counts().values()), {0})


class BadInputWithLogs(BadInput):
    """The same, with every request logged: still one line each, and nothing secret in it."""

    flags = ("--log-level", "debug")


if __name__ == "__main__":
    unittest.main()
