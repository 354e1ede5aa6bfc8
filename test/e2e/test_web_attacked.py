#!/usr/bin/env python3
"""What a web page, a rebound name or a proxy can reach on a server that trusts loopback: nothing."""

import functools
import json
import os
import secrets
import tempfile
import time
import unittest
import uuid

from browser import Recorder, page_at, serving, visit
from http_wire import Wire, await_true, request_head
from server_case import ServerCase
from server_process import Server
from websocket_client import WebSocket

REGISTER = "/registry/register"
JSON = ("Content-Type", "application/json")
PLAIN = ("Content-Type", "text/plain")


def registration():
    return json.dumps({"id": str(uuid.uuid4()), "delivery_mode": "poll"}).encode()


def exchange(address, data):
    with Wire(address) as wire:
        wire.send(data)
        return wire.read_answer()


def post(address, target, *fields, body, host="localhost"):
    head = [("Host", host), *fields, ("Content-Length", str(len(body)))]
    return exchange(address, request_head("POST", target, head) + body)


def get(address, target, *fields, host="localhost"):
    return exchange(address, request_head("GET", target, [("Host", host), *fields]))


class AttackCase(ServerCase):
    def workspaces(self):
        return int(self.db.session.query("SELECT count(*) FROM workspaces")[0][0])

    def own_origin(self):
        return "localhost:%d" % self.server.address[1]

    def assert_refused(self, answer, status, code):
        self.assertEqual((answer.status, answer.json().get("code")), (status, code), answer)


class OpenRegistration(AttackCase):
    """The default: a loopback listener, and no token needed to register."""

    def refuses(self, status, code, *fields, host=None):
        before = self.workspaces()
        answer = post(self.server.address, REGISTER, *fields, body=registration(), host=host or self.own_origin())
        self.assert_refused(answer, status, code)
        self.assertEqual(self.workspaces(), before)

    def takes(self, *fields, host=None):
        answer = post(self.server.address, REGISTER, *fields, body=registration(), host=host or self.own_origin())
        self.assertEqual(answer.status, 200, answer)
        return answer.json()["auth_token"]

    def test_a_page_of_another_site_registers_nothing(self):
        for fields in ([JSON, ("Origin", "http://evil.example")], [JSON, ("Origin", "null")],
                       [PLAIN, ("Origin", "http://evil.example")],
                       [JSON, ("Origin", "http://localhost:1")], [JSON, ("Sec-Fetch-Site", "cross-site")],
                       [JSON, ("Sec-Fetch-Site", "same-site")]):
            with self.subTest(fields=fields):
                self.refuses(403, "cross_site", *fields)
        self.assertGreater(self.server.metrics()['molecule_auth_rejected_total{reason="cross_site"}'], 0)

    def test_json_that_needs_no_token_is_declared_as_json(self):
        for fields in ([], [PLAIN], [("Content-Type", "application/x-www-form-urlencoded")]):
            with self.subTest(fields=fields):
                self.refuses(415, "unsupported_media_type", *fields)
        self.takes(("Content-Type", "application/json; charset=utf-8"))
        self.takes(JSON, ("Origin", "http://" + self.own_origin()), ("Sec-Fetch-Site", "same-origin"))

    def test_with_a_token_any_type_and_origin_is_taken(self):
        workspace = json.loads(registration())
        token = post(self.server.address, REGISTER, JSON, body=json.dumps(workspace).encode()).json()["auth_token"]
        answer = post(self.server.address, REGISTER, PLAIN, ("Origin", "http://evil.example"),
                      ("Authorization", "Bearer " + token), body=json.dumps(workspace).encode())
        self.assertEqual(answer.status, 200, answer)

    def test_a_rebound_name_is_not_served(self):
        since = self.server.log_size()
        for host in ("evil.example", "evil.example:%d" % self.server.address[1], "10.0.0.1", "localhost.evil.example"):
            with self.subTest(host=host):
                self.refuses(421, "host_not_allowed", JSON, host=host)
                for target in ("/healthz", "/version", "/nothing", "/ws"):
                    self.assert_refused(get(self.server.address, target, host=host), 421, "host_not_allowed")
                self.assert_refused(get(self.server.metrics_address, "/metrics", host=host), 421, "host_not_allowed")
        for host in ("localhost", "LOCALHOST:1", "127.0.0.1", "127.9.9.9:80", "[::1]:8080"):
            self.assertEqual(get(self.server.address, "/healthz", host=host).status, 200, host)
        self.assertEqual(exchange(self.server.address, b"GET /healthz HTTP/1.0\r\n\r\n").status, 200)
        lines = [line for line in self.server.log_lines(since) if line["event"] == "host_not_allowed"]
        self.assertIn("evil.example", lines[0]["host"])
        self.assertIn("--allowed-host", lines[0]["reason"])

    def test_what_a_proxy_forwards_does_not_come_from_here(self):
        for field in ("X-Forwarded-For", "X-Real-IP", "Forwarded", "Via"):
            self.refuses(401, "missing_token", JSON, (field, "127.0.0.1"))

    def test_a_revoked_last_token_does_not_give_the_workspace_away(self):
        workspace = json.loads(registration())
        body = json.dumps(workspace).encode()
        token = post(self.server.address, REGISTER, JSON, body=body).json()["auth_token"]
        bearer = ("Authorization", "Bearer " + token)
        path = f"/workspaces/{workspace['id']}/tokens"
        (token,) = get(self.server.address, path, bearer).json()
        revoke = request_head("DELETE", f"{path}/{token['token_id']}", [("Host", "localhost"), bearer])
        self.assertEqual(exchange(self.server.address, revoke).status, 200)
        self.assert_refused(post(self.server.address, REGISTER, JSON, body=body), 401, "missing_token")

    def test_a_broken_chunk_line_is_answered_at_once(self):
        for begun in (b"x", b"5x", b"5\r\nhelloX", b"5\r\nhello\r\n00000000000000000"):
            began = time.monotonic()
            answer = exchange(self.server.address, request_head(
                "POST", REGISTER, [("Host", "localhost"), JSON, ("Transfer-Encoding", "chunked")]) + begun)
            self.assertEqual(answer.status, 400, (begun, answer))
            self.assertLess(time.monotonic() - began, 8, begun)  # a silent client has 10 s


class Dev(AttackCase):
    flags = ("--dev",)

    def test_pages_of_other_sites_get_nothing(self):
        workspace = self.db.add_workspace()
        path = f"/workspaces/{workspace.id}"
        evil = ("Origin", "http://evil.example")
        for fields in ([evil], [("Sec-Fetch-Site", "cross-site")], [("Sec-Fetch-Site", "same-site")]):
            for target in ("/activity", "/pending-uploads", "/events/stream"):
                self.assert_refused(get(self.server.address, path + target, *fields), 403, "cross_site")
            self.assert_refused(post(self.server.address, path + "/a2a", JSON, *fields, body=b'{"method":"m"}'),
                                403, "cross_site")
        self.assert_refused(post(self.server.address, path + "/a2a", PLAIN, body=b'{"method":"m"}'),
                            415, "unsupported_media_type")
        self.assertEqual(get(self.server.address, path + "/activity").json(), [])

    def test_what_a_proxy_forwards_needs_a_token(self):
        workspace = self.db.add_workspace()
        path = f"/workspaces/{workspace.id}/activity"
        self.assertEqual(get(self.server.address, path).status, 200)
        for field in ("X-Forwarded-For", "X-Real-IP", "Forwarded", "Via"):
            self.assert_refused(get(self.server.address, path, (field, "127.0.0.1")), 401, "missing_token")
            bearer = ("Authorization", "Bearer " + workspace.token)
            self.assertEqual(get(self.server.address, path, bearer, (field, "127.0.0.1")).status, 200)

    def test_a_web_socket_opens_for_the_servers_own_pages_only(self):
        token = self.db.add_workspace().token
        for bearer in (None, token):
            for origin, status in (("http://test", 101), ("https://test", 101), ("http://evil.example", 403)):
                with WebSocket(self.server.address, bearer, headers=[("Origin", origin)]) as socket:
                    self.assertEqual(socket.answer.status, status, (origin, bearer))


class Settings(AttackCase):
    def test_allowed_hosts_are_served_on_loopback(self):
        with Server(self.db.conninfo, "--allowed-host", "chat.example", "--allowed-host", "test") as server:
            self.assertEqual(get(server.address, "/healthz", host="chat.example:8443").status, 200)
            self.assert_refused(get(server.address, "/healthz", host="evil.example"), 421, "host_not_allowed")

    def test_another_listener_serves_every_host_until_one_is_named(self):
        everywhere = ("--listen", "0.0.0.0:0", "--allow-plain-http")
        with Server(self.db.conninfo, *everywhere, environment={"RESTANTE_ALLOWED_HOST": ""}) as server:
            address = ("127.0.0.1", server.address[1])
            self.assertEqual(get(address, "/healthz", host="whatever.example").status, 200)
        with Server(self.db.conninfo, *everywhere, "--allowed-host", "test") as server:
            address = ("127.0.0.1", server.address[1])
            self.assert_refused(get(address, "/healthz", host="whatever.example"), 421, "host_not_allowed")
            self.assertEqual(get(address, "/healthz", host="10.0.0.1").status, 200)

    def test_an_admin_token_that_others_can_read_is_warned_about(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(secrets.token_urlsafe(24))
            file.flush()
            for mode, warned in ((0o600, False), (0o640, False), (0o644, True)):
                with open(file.name) as opened:
                    os.fchmod(opened.fileno(), mode)
                with Server(self.db.conninfo, "--admin-token-file", file.name) as server:
                    events = [line["event"] for line in server.log_lines()]
                    self.assertEqual("admin_token_file_open" in events, warned, oct(mode))


# Tries everything that a page can do to another origin, and reports how each attempt ended.
PAGE = """<!doctype html><body>
<form method="post" enctype="text/plain" target="answer" action="http://{server}/registry/register">
<input name='{{"id":"{form}","delivery_mode":"poll","name":"' value='"}}'></form><iframe name="answer"></iframe>
<script>
const register = 'http://{server}/registry/register';
const report = what => fetch('/heard-' + what);
const body = id => JSON.stringify({{id, delivery_mode: 'poll'}});
const socket = () => new Promise(done => {{
    const opened = new WebSocket('ws://{server}/ws');
    opened.onopen = () => done('open');
    opened.onerror = () => done('refused');
}});
const submitted = () => new Promise(done => {{
    document.querySelector('iframe').onload = done;
    document.querySelector('form').submit();
}});
(async () => {{
    await fetch(register, {{method: 'POST', mode: 'no-cors', body: body('{simple}')}}).catch(() => 0);
    const headers = {{'Content-Type': 'application/json'}};
    await report('json-' + await fetch(register, {{method: 'POST', headers, body: body('{json}')}})
        .then(answer => answer.status, () => 'blocked'));
    await submitted();
    await report('socket-' + await socket());
    await report('over');
}})();
</script></body>"""


def attacking(server, path):
    ids = {name: uuid.uuid4() for name in ("form", "simple", "json")}
    return PAGE.format(server="%s:%d" % server.address, **ids) if path == "/" else ""


class Browser(AttackCase):
    """Another port of 127.0.0.1 is another origin of the same site."""

    flags = ("--dev",)

    def attempts(self, url, heard):
        visit(url, lambda: "/heard-over" in heard, "the page has tried everything")
        return {path for path in heard if path.startswith(("/heard-json", "/heard-socket"))}

    def test_a_page_of_another_origin_stores_nothing_and_hears_nothing(self):
        heard = []
        with serving(functools.partial(Recorder, heard, functools.partial(attacking, self.server))) as url:
            self.assertEqual(self.attempts(url, heard), {"/heard-json-blocked", "/heard-socket-refused"})
        self.assertEqual(self.workspaces(), 0)
        self.assertGreaterEqual(self.server.metrics()['molecule_auth_rejected_total{reason="cross_site"}'], 3,
                                "the browser did send the simple request, the form and the handshake")

    def test_the_same_page_gets_through_when_its_origin_is_allowed(self):
        """Shows that the page and the browser do what the test above relies on."""
        heard = []
        with serving(functools.partial(Recorder, heard, lambda path: attacking(allowing, path))) as url:
            with Server(self.db.conninfo, "--dev", "--allowed-origin", url.rstrip("/")) as allowing:
                allowing.wait_ready()
                self.assertEqual(self.attempts(url, heard), {"/heard-json-200", "/heard-socket-open"})
        await_true(lambda: self.workspaces() == 1, 10, "the JSON that was declared is stored, the simple ones are not")
        self.db.session.query("DELETE FROM workspace_auth_tokens; DELETE FROM workspace_presence; DELETE FROM workspaces")

    def test_a_rebound_name_reads_nothing(self):
        url = "http://evil.example:%d/version" % self.server.address[1]
        page = page_at(url, "--host-resolver-rules=MAP evil.example 127.0.0.1")
        self.assertIn("host_not_allowed", page)


if __name__ == "__main__":
    unittest.main()
