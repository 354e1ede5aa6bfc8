#!/usr/bin/env python3
"""What each kind of bearer may do, over the wire: every route, every scope."""

import pathlib
import re
import unittest
import uuid

from forms import form, part
from grant_case import GrantCase
from http_wire import await_true
from identity_case import tokens_path
from testbed import Workspace
from websocket_client import Closed, EventStream, WebSocket

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
KINDS = ("full", "upload", "read", "grant")
# One workspace may ask about another here, if the server lets them; that is tested with peers.
ABOUT_OTHERS = {("GET", "/registry/discover/{id}"), ("GET", "/workspaces/{id}"), ("POST", "/workspaces/{id}/a2a")}
MESSAGE = {"jsonrpc": "2.0", "id": 1, "method": "message/send",
           "params": {"message": {"parts": [{"kind": "text", "text": "hi"}]}}}


def documented():
    """{(method, path): the kinds of bearer that open it}, from the table in docs/api.md."""
    text = (SOURCE / "docs" / "api.md").read_text()
    table = text[text.index("<!-- scopes -->"):text.index("<!-- end of scopes -->")]
    rows = re.findall(r"^\| `(\w+) (\S+)` \|(.*)\|$", table, re.MULTILINE)
    return {(method, path): {kind for kind, cell in zip(KINDS, cells.split("|")) if cell.strip() == "yes"}
            for method, path, cells in rows}


class Matrix(GrantCase):
    def bearers(self):
        return {"full": self.token, "upload": self.mint("upload")["auth_token"],
                "read": self.mint("read")["auth_token"], "grant": self.grant()["grant"]}

    def answer_to(self, method, path, bearer):
        """The answer to a request that is otherwise wrong in some way, so that it changes nothing."""
        path = path.replace("{id}", self.id)
        path = re.sub(r"\{\w+\}", str(uuid.uuid4()), path)
        if path.endswith("/events/stream"):
            method = "HEAD"  # the body has no end
        body = b"[]" if method in ("POST", "PUT", "PATCH") else None
        return self.ask(method, path, bearer, body)

    def test_every_bearer_on_every_route(self):
        bearers = self.bearers()
        _, stranger = self.register()
        for (method, path), opened_by in documented().items():
            for kind, bearer in bearers.items():
                with self.subTest(route=f"{method} {path}", kind=kind):
                    answer = self.answer_to(method, path, bearer)
                    if not opened_by:
                        self.assertEqual((answer.status, answer.json()["code"]), (401, "invalid_admin_token"))
                        continue
                    self.assertNotEqual(answer.status, 401, answer)
                    self.assertEqual(answer.status != 403, kind in opened_by, answer)
                    if answer.status == 403 and answer.body:
                        self.assertEqual(answer.json()["code"], "insufficient_scope")
            if "{id}" in path and (method, path) not in ABOUT_OTHERS:
                self.assertEqual(self.answer_to(method, path, stranger).status, 401)

    def test_the_refused_are_counted(self):
        read = self.mint("read")["auth_token"]
        name = 'molecule_auth_rejected_total{reason="insufficient_scope"}'
        before = self.server.metrics()[name]
        for _ in range(25):
            self.assert_code(self.send(read), 403, "insufficient_scope")
        self.assertEqual(self.server.metrics()[name], before + 25)
        self.assertEqual(self.call("GET", f"{self.path}/activity", read).status, 200, "and not as wrong tokens")


class Senders(GrantCase):
    """An upload token beside somebody else's files."""

    def setUp(self):
        super().setUp()
        self.other = self.send(self.token, form(part("secret", "plans.txt", "text/plain"))).json()["files"][0]
        self.upload = self.mint("upload")["auth_token"]

    def end_upload_tokens(self):
        self.db.session.query(f"UPDATE workspace_auth_tokens SET revoked_at = now() "
                              f"WHERE workspace_id = '{self.id}' AND scope = 'upload'")

    def test_nothing_of_anothers_file_is_seen(self):
        file = self.other["file_id"]
        one = f"{self.path}/pending-uploads/{file}"
        for method, path, body in (
                ("GET", f"{self.path}/pending-uploads", None), ("GET", f"{one}/content", None),
                ("HEAD", f"{one}/content", None), ("POST", f"{one}/ack", None),
                ("GET", f"{one}/content?recover=true", None),
                ("POST", f"{self.path}/pending-uploads/ack", {"file_ids": [file]}),
                ("GET", f"{self.path}/activity", None), ("GET", f"{self.path}/activity?since_seq=0&wait=5", None),
                ("GET", f"{self.path}/activity/ack", None), ("POST", f"{self.path}/activity/ack", {"acked_seq": 1}),
                ("POST", f"{self.path}/activity", {"activity_type": "agent_log"}),
                ("GET", f"{self.path}/chat/download?path=/workspace/a", None),
                ("GET", tokens_path(self.id), None), ("POST", tokens_path(self.id), None),
                ("GET", f"{self.path}/upload-grants", None), ("POST", f"{self.path}/upload-grants", None),
                ("DELETE", f"{self.path}?confirm=true", None)):
            for bearer in (self.upload, self.grant()["grant"]):
                with self.subTest(method=method, path=path):
                    answer = self.ask(method, path, bearer, body)
                    self.assertEqual(answer.status, 403, answer)
                    self.assertNotIn(b"plans", answer.body)
        self.assertIsNone(self.db.session.value(f"SELECT acked_at FROM pending_uploads WHERE file_id = '{file}'"))

    def test_it_sends_files_and_messages(self):
        self.assertEqual(self.send(self.upload).status, 200)
        self.assertEqual(self.call("POST", f"{self.path}/a2a", self.upload, MESSAGE).status, 200)
        self.assert_code(self.call("POST", f"{self.path}/a2a", self.grant()["grant"], MESSAGE), 403,
                         "insufficient_scope")

    def test_its_event_stream_replays_nothing(self):
        with EventStream(self.server.address, Workspace(self.id, self.upload), last_event_id=0) as sender, \
                EventStream(self.server.address, Workspace(self.id, self.token), last_event_id=0) as owner:
            self.assertEqual(self.send(self.token).status, 200)
            self.assertEqual([owner.next_event()["payload"]["seq"] for _ in range(2)], [1, 2])
            self.end_upload_tokens()
            with self.assertRaises(Closed):
                sender.next_event(30)
            self.assertEqual(sender.last_id, 0, "how long the feed is is not told either")

    def test_its_socket_hears_no_rows(self):
        with WebSocket(self.server.address, token=self.upload) as sender, \
                WebSocket(self.server.address, token=self.token) as owner:
            self.assertEqual(self.send(self.token).status, 200)
            self.assertEqual(owner.next_event(30)["event"], "ACTIVITY_LOGGED")
            self.end_upload_tokens()
            with self.assertRaises(Closed) as ended:
                sender.next_event(30)
            self.assertEqual(ended.exception.code, 1008)


class Readers(GrantCase):
    def test_it_reads_and_changes_nothing(self):
        file = self.send(self.token).json()["files"][0]["file_id"]
        read = self.mint("read", name="wall")["auth_token"]
        content, receipt = f"{self.path}/pending-uploads/{file}/content", f"{self.path}/uploads/{file}"
        self.assertEqual(self.call("GET", content, read).body, b"hello")
        self.assertEqual(len(self.call("GET", f"{self.path}/activity", read).json()), 1)
        self.assert_code(self.call("POST", f"{self.path}/pending-uploads/{file}/ack", read), 403, "insufficient_scope")
        self.assert_code(self.send(read), 403, "insufficient_scope")
        with WebSocket(self.server.address, token=read) as socket:
            self.assertEqual(self.send(self.token).status, 200)
            self.assertEqual(socket.next_event(30)["event"], "ACTIVITY_LOGGED")
            # Only the workspace's own download is one that senders wait for; it comes after the first one's stamp.
            self.assertEqual(self.call("GET", receipt, self.token).json()["state"], "staged")
            self.assertEqual(self.call("GET", content, self.token).body, b"hello")
            self.assertEqual(socket.next_event(30)["event"], "UPLOAD_FETCHED")
        fetched = self.call("GET", receipt, self.token).json()["fetched_at"]
        self.assertEqual(self.call("GET", content, read).body, b"hello")
        self.send_and_fetch_another()
        self.assertEqual(self.call("GET", receipt, self.token).json()["fetched_at"], fetched)

    def send_and_fetch_another(self):
        """Stamps are written together, so those of before are there when this one is."""
        other = self.send(self.token).json()["files"][0]["file_id"]
        self.call("GET", f"{self.path}/pending-uploads/{other}/content", self.token)
        await_true(lambda: self.call("GET", f"{self.path}/uploads/{other}", self.token).json()["fetched_at"], 20,
                   "the stamp is written")


class Minting(GrantCase):
    def test_scope_name_and_end_are_shown(self):
        made = self.mint("upload", name="canvas", expires_in=60)
        shown = self.call("GET", tokens_path(self.id), self.token).json()[0]
        for key in ("token_id", "scope", "name", "expires_at"):
            self.assertEqual(shown[key], made[key])
        self.assertEqual((shown["scope"], shown["name"]), ("upload", "canvas"))

    def test_no_body_is_a_full_token_for_good(self):
        for body in (None, {}):
            answer = self.call("POST", tokens_path(self.id), self.token, body)
            self.assertEqual((answer.status, answer.json()["scope"], answer.json()["expires_at"]), (201, "full", None))
            self.assertEqual(self.call("GET", tokens_path(self.id), answer.json()["auth_token"]).status, 200)
        for body in (b"[]", b"{", {"scope": "grant"}, {"scope": "root"}, {"expires_in": -1}, {"name": 7}):
            self.assertEqual(self.call("POST", tokens_path(self.id), self.token, body).status, 400, body)

    def test_an_expired_token_is_a_wrong_one_within_the_cache_too(self):
        made = self.mint(expires_in=4)["auth_token"]
        self.assertEqual(self.call("GET", tokens_path(self.id), made).status, 200)
        await_true(lambda: self.call("GET", tokens_path(self.id), made).status == 401, 4, "it is over")
        self.assert_invalid(self.call("GET", tokens_path(self.id), made))

    def test_an_agent_is_not_remembered_beyond_the_end_of_its_token(self):
        made = self.mint(expires_in=4)["auth_token"]
        beat = {"workspace_id": self.id}
        self.assertEqual(self.call("POST", "/registry/heartbeat", made, beat).status, 200)
        await_true(lambda: self.call("POST", "/registry/heartbeat", made, beat).status == 401, 8, "it is over")

    def test_grants_do_not_crowd_out_the_admins_tokens(self):
        for _ in range(51):
            self.grant(expires_in=1)
        answer = self.call("POST", f"/admin{tokens_path(self.id)}", self.admin)
        self.assertEqual(answer.status, 201, answer)

    def test_a_socket_ends_with_its_token(self):
        made = self.mint("read", expires_in=4)["auth_token"]
        with WebSocket(self.server.address, token=made) as socket:
            self.assertEqual(socket.close_code(30), 1008)


if __name__ == "__main__":
    unittest.main()
