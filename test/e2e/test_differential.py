"""The same bytes directly to the server and through Debian's nginx and haproxy: whatever a client sends, the
server never parses a request that the proxy in front of it did not intend to send."""

import collections
import json
import socket
import unittest

import strict_http
from front_case import FrontCase
from front_proxies import Relay, haproxy, nginx
from http_wire import await_true
from raw_requests import CASES, REFUSED, WORKSPACE

VICTIM = b"GET /version HTTP/1.1\r\nHost: test\r\nX-Request-Id: victim-NNNN\r\nConnection: close\r\n\r\n"
LAX_NGINX = "proxy_request_buffering off; ignore_invalid_headers off; underscores_in_headers on; merge_slashes off;"
# A proxy in front of a service with WebSockets forwards upgrades, and may be tricked into assuming one.
UPGRADING_NGINX = LAX_NGINX + """
    location /ws { proxy_pass http://restante; proxy_http_version 1.1; proxy_set_header Host $http_host;
                   proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade; }"""


def everything(family, address, data):
    """Sends the bytes, shuts down the sending side, and reads to the end."""
    with socket.socket(family) as client:
        client.settimeout(20)
        client.connect(address)
        received = bytearray()
        try:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            while piece := client.recv(1 << 16):
                received += piece
        except (BrokenPipeError, ConnectionResetError):
            pass
        return bytes(received)


def meaning(body):
    """A message without what the server adds to those that lack it."""
    try:
        message = json.loads(body)
    except ValueError:
        return body
    if not isinstance(message, dict):
        return body
    return json.dumps({key: value for key, value in message.items() if key not in ("jsonrpc", "id")}).encode()


class Differential(FrontCase):
    flags = ("--dev", "--log-level", "debug", "--threads", "1")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.db.session.query(f"INSERT INTO workspaces (id, delivery_mode) VALUES ('{WORKSPACE}', 'poll')")
        cls.run_number = 0

    def numbered(self, data):
        return data.replace(b"-NNNN", b"-%04d" % self.run_number)

    def lines(self, since):
        return [line for line in self.server.log_lines(since) if line["event"] == "request"]

    def stored_bodies(self):
        return self.db.session.query("SELECT request_body FROM activity_logs ORDER BY seq")

    def test_straight(self):
        for name, data, expected in CASES:
            with self.subTest(name):
                type(self).run_number += 1
                mark = self.server.log_size()
                told = strict_http.read_answers(
                    everything(socket.AF_INET, self.server.address, self.numbered(data)))
                await_true(lambda: len(self.lines(mark)) >= len(told), 5, "a line for every answer")
                self.assertEqual(collections.Counter(line["request_id"] for line in self.lines(mark)),
                                 collections.Counter(name for _, name in told))
                statuses = [status for status, _ in told]
                if expected is REFUSED:
                    self.assertEqual(len(statuses), 1, statuses)
                    self.assertIn(statuses[0], (400, 413, 414, 417, 431, 499, 501, 505))
                else:
                    self.assertEqual(statuses, expected)

    def test_behind_nginx(self):
        self.compare(nginx)

    def test_behind_nginx_that_passes_on_what_it_can(self):
        self.compare(nginx, UPGRADING_NGINX)

    def test_behind_haproxy(self):
        self.compare(haproxy)

    def test_behind_haproxy_that_passes_on_what_it_can(self):
        self.compare(haproxy, "option accept-invalid-http-request")

    def compare(self, make_front, options=""):
        with Relay(self.server.address) as relay, make_front(relay.port, options) as front:
            for name, data, _ in CASES:
                with self.subTest(name):
                    type(self).run_number += 1
                    self.compare_one(relay, front, self.numbered(data))

    def compare_one(self, relay, front, data):
        mark, said, bodies = self.server.log_size(), front.said(), len(self.stored_bodies())
        everything(socket.AF_UNIX, front.socket, data)
        # If the server had taken some of the bytes for the start of a request, the next client would be
        # affected.
        answer = everything(socket.AF_UNIX, front.socket, self.numbered(VICTIM))
        self.assertEqual(strict_http.read_answers(answer), [(200, "victim-%04d" % self.run_number)])

        links = [self.compare_link(*link) for link in relay.take()]
        answered = [name for names, _ in links for name in names]
        await_true(lambda: len(self.lines(mark)) >= len(answered), 5, "a line for every answer")
        # The proxy logs a request when it is complete, which may be a moment later.
        await_true(lambda: self.all_meant(mark, front.forwarded(said)), 5, "the proxy says it sent what was seen")
        stored = collections.Counter(meaning(body.encode()) for (body,) in self.stored_bodies()[bodies:])
        self.assertLessEqual(stored, collections.Counter(meaning(body) for _, sent in links for body in sent))

    def all_meant(self, mark, forwarded):
        """Whether the proxy, according to its log, sent every request that the server received."""
        # The last line of the case before may have been written after the mark.
        late = "-%04d" % (self.run_number - 1)
        seen = [line["request_id"] for line in self.lines(mark) if not line["request_id"].endswith(late)]
        ours = collections.Counter(name for name in seen if name.endswith("-%04d" % self.run_number))
        return len(seen) <= len(forwarded) and ours <= collections.Counter(forwarded)

    def compare_link(self, asked, answered):
        """One connection between the proxy and the server: each request that any parser would find there has
        its response, in order; after these there is at most one rejection, where parsers may differ."""
        meant, end = strict_http.read_requests(asked)
        told = strict_http.read_answers(answered)
        self.assertLessEqual(len(told), len(meant) + (end is not None), (meant, end, told))
        for request, (status, name) in zip(meant, told):
            # A request without an id gets one. One that is too long is rejected before its id is read, and
            # then nothing follows on that connection.
            unread = status in (414, 431) and name == told[-1][1]
            self.assertTrue(name == request.id or not request.id or unread, (request, name))
        for status, _ in told[len(meant):]:
            self.assertGreaterEqual(status, 400)
        return [name for _, name in told], [request.body for request in meant if request.body]


if __name__ == "__main__":
    unittest.main()
