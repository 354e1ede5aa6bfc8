"""Bytes that arrive one at a time, and text that could be mistaken for something else: a command, a number, a
secret."""

import json
import secrets
import unittest
import uuid

import told_tokens
from forms import PLAIN, chunked, form, part
from front_case import FrontCase, still_answers
from http_wire import Wire, await_true, request_head
from identity_case import IdentityCase, request, tokens_path
from testbed import Workspace, upload, upload_head

SQL = "'; DROP TABLE pending_uploads; --"
JSON = [("Host", "test"), ("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")]


class OneByteAtATime(FrontCase):
    flags = ("--dev",)

    def send_slowly(self, head, body):
        """Sends every byte of the body in its own packet; returns the response, and whether the connection
        stays usable."""
        with self.wire() as wire:
            wire.send(head)
            for byte in body:
                wire.send(bytes([byte]))
            answer = wire.read_answer()
            return answer, still_answers(wire)

    def test_chunks_of_every_form(self):
        workspace = self.db.add_workspace()
        head = request_head("POST", f"/workspaces/{workspace.id}/a2a", JSON)
        message = b'{"method":"m"}'
        for name, body, status in (
                ("nothing", b"0\r\n\r\n", 400), ("nothing, with zeros", b"000\r\n\r\n", 400),
                ("nothing and a trailer", b"0\r\nA: b\r\n\r\n", 400),
                ("nothing and an extension", b"0;a\r\n\r\n", 400),
                ("one chunk", chunked(message, (99,)), 200), ("a chunk a byte", chunked(message, (1,)), 200),
                ("a trailer", b"e\r\n" + message + b"\r\n0\r\nX-Late: 1\r\n\r\n", 200),
                ("trailers and extensions", b"e;a=b\r\n" + message + b"\r\n0;c\r\nX: 1\r\nY: 2\r\n\r\n", 200)):
            with self.subTest(name):
                answer, goes_on = self.send_slowly(head, body)
                self.assertEqual((answer.status, goes_on), (status, True), answer)
                self.assertNotEqual(answer.json().get("code"), "bad_request", "the framing is right")
        stored = self.db.session.query(
            f"SELECT request_body - 'id' FROM (SELECT request_body::jsonb FROM activity_logs WHERE "
            f"workspace_id = '{workspace.id}') AS rows")
        self.assertEqual(stored, [('{"method": "m", "jsonrpc": "2.0"}',)] * 4)

    def test_chunks_that_are_none(self):
        head = request_head("POST", f"/workspaces/{self.db.add_workspace().id}/a2a", JSON)
        for body in (b"-1\r\n", b"0x5\r\nhello\r\n0\r\n\r\n", b"0\r\nno colon\r\n\r\n", b"0\n\n0\r\n\r\n", b"0\rx\r\n",
                     b"fffffffffffffffff\r\n", b"2\r\n{}xx0\r\n\r\n", b"0;\0\r\n\r\n"):
            with self.subTest(body=body), self.wire() as wire:
                wire.send(head)
                wire.send_what_is_taken(bytes([byte]) for byte in body)
                self.assertEqual(wire.read_answer().status, 400)
                self.assertTrue(wire.is_closed())

    def test_an_upload(self):
        workspace = self.db.add_workspace()
        body = chunked(form(part("x" * 40)), (7, 1, 30))
        answer, goes_on = self.send_slowly(upload_head(workspace, PLAIN), body)
        self.assertEqual((answer.status, goes_on), (200, True), answer)
        self.assertEqual(answer.json()["files"][0]["size"], 40)


class Log(FrontCase):
    flags = ("--log-level", "debug")

    def test_a_token_in_a_path_or_a_method_is_not_logged(self):
        token = told_tokens.remember(secrets.token_urlsafe(32))
        mark = self.server.log_size()
        targets = (f"/{token}", f"/workspaces/{token}", f"/workspaces/{uuid.uuid4()}/{token}",
                   f"/healthz/{token}", f"/workspaces/{token}/activity", f"/healthz?token={token}",
                   f"/a/../{token}", f"http://{token}/x")
        for target in targets:
            self.exchange(request_head("GET", target, [("Host", "test")]))
        self.exchange(request_head(token, "/healthz", [("Host", "test")]))
        logged = {line["path"] for line in self.server.log_lines(mark) if line["event"] == "request"}
        self.assertEqual(logged, {"/healthz", "unmatched"})
        self.assertNotIn(token, self.server.log_text(mark))


class Texts(IdentityCase):
    def setUp(self):
        super().setUp()
        self.workspace, self.token = self.register()
        self.path = f"/workspaces/{self.workspace}"

    def test_json_that_is_none_on_every_route_that_takes_it(self):
        deep = b'{"a":' + b"[" * 100 + b"]" * 100 + b"}"
        routes = ("/registry/register", f"{self.path}/activity", f"{self.path}/activity/ack", f"{self.path}/a2a",
                  f"{self.path}/pending-uploads/ack")
        before = self.db.counts()
        for route in routes:
            for body, status in ((deep, 400), (b"\xef\xbb\xbf{}", 400), (b'{"a"', 400), (b'{"a":1,"a":1}', 400),
                                 (b'{"a":"\xff"}', 400), (b'{"a":"\\ud800"}', 400), (b"{} {}", 400), (b"", 400),
                                 (b" " * (17 << 20), 413)):
                with self.subTest(route=route, body=body[:30]):
                    answer = self.call("POST", route, self.token, body)
                    self.assertEqual(answer.status, status, answer)
                    if body and status == 400:
                        self.assertIn("JSON", answer.json()["error"])
        self.assertEqual(self.db.counts(), before)

    def test_sql_is_text_wherever_it_stands(self):
        stored = upload(self.server.address, Workspace(self.workspace, self.token),
                        form(part(SQL, SQL, SQL)), PLAIN, [("Idempotency-Key", SQL.replace(" ", ""))])
        self.assertEqual((stored.status, stored.json()["files"][0]["original_name"]), (200, SQL))
        name = {"id": self.workspace, "delivery_mode": "poll", "name": SQL}
        self.assertEqual(self.call("POST", "/registry/register", self.token, name).status, 200)
        said = {"jsonrpc": "2.0", "method": SQL, "params": {SQL: SQL}}
        self.assertEqual(self.call("POST", f"{self.path}/a2a", self.token, said).status, 200)
        quoted = "%27%20OR%20%271%27=%271"
        for target, status in (("/activity?type=", 200), ("/activity?limit=", 200), ("/activity?since_id=", 400),
                               ("/activity?since_seq=", 400), ("/activity?peer_id=", 400),
                               ("/pending-uploads?after=", 400), ("/pending-uploads/", 404)):
            with self.subTest(target):
                self.assertEqual(self.call("GET", self.path + target + quoted, self.token).status, status)
        for target in (f"/workspaces/{quoted}/activity", f"{self.path}/pending-uploads/{quoted}/content"):
            self.assertEqual(self.call("GET", target, self.token).status, 400)
        self.assert_invalid(self.call("GET", tokens_path(self.workspace), SQL))
        rows = self.call("GET", f"{self.path}/activity", self.token).json()
        self.assertEqual([row["request_body"]["params"][SQL] for row in rows if row["method"] == SQL], [SQL])
        self.assertEqual(self.db.counts()["pending_uploads"], 1)

    def test_ids_in_other_clothes(self):
        for identity in ("{%s}" % self.workspace, "%7B" + self.workspace + "%7D", "0" * 36,
                         self.workspace.replace("-", ""), "urn:uuid:" + self.workspace, self.workspace + "0",
                         "%20" + self.workspace, self.workspace[:-1] + "%00"):
            with self.subTest(identity):
                self.assertEqual(self.call("GET", tokens_path(identity), self.token).status, 400)
        self.assertEqual(self.status_of(self.workspace.upper(), self.token), 200)

    def test_a_json_body_that_ends_early_does_nothing(self):
        data = request("POST", f"{self.path}/a2a", self.token, {"jsonrpc": "2.0", "method": "m"})
        before = self.db.counts()
        for cut in range(data.index(b"\r\n\r\n") + 4, len(data)):
            with Wire(self.server.address) as wire:
                wire.send(data[:cut])
        await_true(lambda: self.server.client_connections() == 0, 20, "all of them closed")
        self.assertEqual(self.db.counts(), before)
        self.assertEqual(json.loads(self.call("GET", f"{self.path}/activity", self.token).body), [])


if __name__ == "__main__":
    unittest.main()
