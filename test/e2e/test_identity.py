"""Who may do what: registration, wsAuth, removal and the token routes, over the wire."""

import hashlib
import secrets
import unittest
import uuid

from forms import PLAIN, form, part
from http_wire import Wire, await_true, request_head
from identity_case import IdentityCase, poll_workspace, request, tokens_path
from server_process import Server
from testbed import Workspace, upload

REGISTER = "/registry/register"


class Registration(IdentityCase):
    def test_the_first_one_mints_a_token_that_works(self):
        workspace = str(uuid.uuid4())
        answer = self.call("POST", REGISTER, body=poll_workspace(workspace))
        self.assertEqual(answer.status, 200, answer)
        told = answer.json()
        self.assertEqual({key: told[key] for key in ("status", "delivery_mode")},
                         {"status": "registered", "delivery_mode": "poll"})
        for key in ("auth_token", "platform_inbound_secret"):
            self.assertRegex(told[key], r"\A[A-Za-z0-9_-]{43}\Z")
        self.assertNotEqual(told["auth_token"], told["platform_inbound_secret"])
        self.assertEqual(answer.headers["cache-control"], "no-store")
        self.assertEqual(self.status_of(workspace, told["auth_token"]), 200)

    def test_the_second_one_needs_the_token_and_mints_none(self):
        workspace, token = self.register()
        _, foreign = self.register()
        changed = {"id": workspace.upper(), "delivery_mode": "push", "url": "https://example.org/hook"}
        missing = self.call("POST", REGISTER, body=changed)
        self.assertEqual((missing.status, missing.json()["error"]), (401, "missing workspace auth token"))
        for wrong in (foreign, secrets.token_urlsafe(32), "x"):
            self.assert_invalid(self.call("POST", REGISTER, wrong, changed))
        row = f"SELECT delivery_mode, url, name FROM workspaces WHERE id = '{workspace}'"
        self.assertEqual(self.db.session.query(row), [("poll", None, "laptop")])

        secret = self.db.session.value(f"SELECT platform_inbound_secret FROM workspaces WHERE id = '{workspace}'")
        for right in (token, self.admin):
            answer = self.call("POST", REGISTER, right, changed)
            self.assertEqual(answer.json(), {"status": "registered", "delivery_mode": "push",
                                             "platform_inbound_secret": secret})
        self.assertEqual(self.db.session.query(row), [("push", "https://example.org/hook", "laptop")])

    def test_bad_bodies_say_what_is_wrong_and_store_nothing(self):
        good = poll_workspace(str(uuid.uuid4()))
        without = {"id": good["id"]}
        called = {**good, "delivery_mode": "push"}
        for body, sentence in (
                (b"{", "malformed JSON"), (b"[]", "JSON object"), (b"\xff", "malformed JSON"),
                (b'{"id": 1, "id": 2}', "malformed JSON"),
                ({"delivery_mode": "poll"}, "invalid workspace ID"),
                ({**good, "id": "{%s}" % good["id"]}, "invalid workspace ID"),
                ({**good, "id": 5}, "invalid workspace ID"),
                (without, "delivery_mode"),
                ({**good, "delivery_mode": "pigeon"}, "delivery_mode"),
                ({**good, "delivery_mode": 1}, "delivery_mode"),
                ({**without, "delivery_mode": "push"}, "url"),
                ({**called, "url": "ftp://example.org"}, "url"),
                ({**called, "url": "http://user:pass@example.org"}, "url"),
                ({**called, "url": "http:///nowhere"}, "url"),
                ({**good, "name": "two\nlines"}, "name"),
                ({**good, "name": 7}, "name"),
                ({**good, "agent_card": []}, "agent_card"),
                ({**good, "agent_card": {"text": "\x00"}}, "agent_card")):
            with self.subTest(body=body):
                answer = self.call("POST", REGISTER, body=body)
                self.assertEqual(answer.status, 400, answer)
                self.assertIn(sentence, answer.json()["error"])
        self.assertEqual(self.db.session.value(
            f"SELECT count(*) FROM workspaces WHERE id = '{good['id']}'"), "0")

    def test_a_url_without_a_mode_means_push(self):
        body = {"id": str(uuid.uuid4()), "url": "http://example.org/", "delivery_mode": ""}
        self.assertEqual(self.call("POST", REGISTER, body=body).json()["delivery_mode"], "push")

    def test_a_push_workspace_may_name_its_url_in_its_card(self):
        card = {"name": "a", "url": "http://example.org/agent"}
        body = {"id": str(uuid.uuid4()), "delivery_mode": "push", "agent_card": card}
        self.assertEqual(self.call("POST", REGISTER, body=body).status, 200)
        row = f"SELECT delivery_mode, url FROM workspaces WHERE id = '{body['id']}'"
        self.assertEqual(self.db.session.query(row), [("push", card["url"])])

    def test_a_callback_url_must_point_outside(self):
        for url in ("http://127.0.0.1:1/", "http://localhost:1/", "http://LocalHost./", "http://10.0.0.1/",
                    "http://[::1]/", "http://0x7f.1/", "http://2130706433/", "http://169.254.169.254/latest",
                    "http://[::ffff:10.0.0.1]/", "http://0/"):
            with self.subTest(url=url):
                body = {"id": str(uuid.uuid4()), "delivery_mode": "push", "url": url}
                answer = self.call("POST", REGISTER, body=body)
                self.assertEqual((answer.status, answer.json()["code"]), (400, "callback_url_not_allowed"))
                # A workspace that polls is never called.
                self.assertEqual(self.call("POST", REGISTER, body={**body, "delivery_mode": "poll"}).status, 200)

    def test_a_legacy_row_without_a_token_gets_one(self):
        workspace = str(uuid.uuid4())
        self.db.session.query(f"INSERT INTO workspaces (id) VALUES ('{workspace}')")
        _, token = self.register(workspace)
        self.assertEqual(self.status_of(workspace, token), 200)

    def test_it_is_logged_without_its_token(self):
        before = self.server.log_size()
        workspace, _ = self.register()
        lines = [line for line in self.server.log_lines(before) if line["event"] == "workspace_registered"]
        self.assertEqual([line["workspace_id"] for line in lines], [workspace])
        self.assertEqual(lines[0]["remote"], self.source)


class ClosedRegistration(IdentityCase):
    flags = ("--registration", "admin")

    def register(self, workspace=None):
        workspace = workspace or str(uuid.uuid4())
        answer = self.call("POST", REGISTER, self.admin, poll_workspace(workspace))
        return workspace, answer.json()["auth_token"]

    def test_a_new_workspace_takes_the_admin_token(self):
        body = poll_workspace(str(uuid.uuid4()))
        self.assertEqual(self.call("POST", REGISTER, body=body).status, 401)
        _, foreign = self.register()
        self.assert_invalid(self.call("POST", REGISTER, foreign, body))
        self.assertIn("auth_token", self.call("POST", REGISTER, self.admin, body).json())

    def test_a_known_one_may_still_tell_what_has_changed(self):
        workspace, token = self.register()
        self.assertEqual(self.call("POST", REGISTER, token, poll_workspace(workspace)).status, 200)
        self.assertEqual(self.call("POST", REGISTER, body=poll_workspace(workspace)).status, 401)


class Tokens(IdentityCase):
    def test_wrong_revoked_and_foreign_ones_get_the_same_answer(self):
        workspace, token = self.register()
        _, foreign = self.register()
        _, revoked = self.register()
        self.db.session.query(f"UPDATE workspace_auth_tokens SET revoked_at = now() "
                              f"WHERE prefix = '{revoked[:8]}'")
        for wrong in (foreign, revoked, secrets.token_urlsafe(32), hashlib.sha256(token.encode()).hexdigest(),
                      token[:-1], token + "A", "A" * 8000, "ä" * 20):
            with self.subTest(length=len(wrong)):
                self.assert_invalid(self.call("GET", tokens_path(workspace), wrong))
        self.assertEqual(self.status_of(workspace, token), 200)

    def test_no_token_is_missing_and_a_token_elsewhere_is_none(self):
        workspace, token = self.register()
        path = tokens_path(workspace)
        for target, headers in ((path, ()), (path, [("Authorization", "Basic dTpw")]),
                                (path, [("Authorization", "Bearer")]), (f"{path}?token={token}", ()),
                                (f"{path}?access_token={token}", ()), (path, [("Cookie", f"token={token}")])):
            answer = self.call("GET", target, headers=headers)
            self.assertEqual((answer.status, answer.json()["error"], answer.headers["www-authenticate"]),
                             (401, "missing workspace auth token", "Bearer"))
        twice = [("Authorization", f"Bearer {token}")] * 2
        self.assertEqual(self.call("GET", path, headers=twice).status, 400)

    def test_a_token_in_a_trailer_opens_nothing(self):
        workspace, token = self.register()
        fields = [("Host", "test"), ("Transfer-Encoding", "chunked")]
        head = request_head("POST", tokens_path(workspace), fields)
        with Wire(self.server.address, source=self.source) as wire:
            wire.send(head + f"0\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
            self.assertEqual(wire.read_answer().status, 401)

    def test_the_scheme_has_any_letter_case_and_so_has_the_id(self):
        workspace, token = self.register()
        headers = [("Authorization", f"bEARER   {token}")]
        self.assertEqual(self.call("GET", tokens_path(workspace.upper()), headers=headers).status, 200)
        self.assertEqual(self.call("GET", "/workspaces/no-uuid/tokens", token).status, 400)

    def test_the_admin_opens_every_workspace(self):
        workspace, _ = self.register()
        self.assertEqual(self.status_of(workspace, self.admin), 200)
        unknown = self.call("POST", tokens_path(uuid.uuid4()), self.admin)
        self.assertEqual((unknown.status, unknown.json()["error"]), (404, "workspace not found"))

    def test_rotation_has_no_gap(self):
        workspace, old = self.register()
        minted = self.call("POST", tokens_path(workspace), old)
        self.assertEqual((minted.status, minted.headers["cache-control"]), (201, "no-store"))
        fresh = minted.json()["auth_token"]
        self.assertEqual([self.status_of(workspace, token) for token in (old, fresh)], [200, 200])

        listed = self.call("GET", tokens_path(workspace), fresh)
        self.assertEqual([token["prefix"] for token in listed.json()], [fresh[:8], old[:8]])
        self.assertEqual(set(listed.json()[0]),
                         {"token_id", "prefix", "scope", "name", "created_at", "last_used_at", "expires_at", "revoked_at"})
        old_id = listed.json()[1]["token_id"]
        for _ in range(2):
            revoked = self.call("DELETE", f"{tokens_path(workspace)}/{old_id}", fresh)
            self.assertEqual((revoked.status, revoked.json()), (200, {"revoked": True}))
        self.assertEqual([self.status_of(workspace, token) for token in (old, fresh)], [401, 200])

    def test_only_its_own_tokens_can_be_revoked(self):
        workspace, token = self.register()
        other, other_token = self.register()
        foreign_id = self.call("GET", tokens_path(other), other_token).json()[0]["token_id"]
        for target, status in ((foreign_id, 404), (str(uuid.uuid4()), 404), ("no-uuid", 400)):
            answer = self.call("DELETE", f"{tokens_path(workspace)}/{target}", token)
            self.assertEqual(answer.status, status, answer)
        self.assertEqual(self.status_of(other, other_token), 200)

    def test_a_revocation_holds_at_once_on_every_shard(self):
        workspace, token = self.register()
        wires = [Wire(self.server.address, source=self.source) for _ in range(12)]
        try:
            def ask_all():
                for wire in wires:
                    wire.send(request("GET", tokens_path(workspace), token))
                return {wire.read_answer().status for wire in wires}
            self.assertEqual(ask_all(), {200})
            token_id = self.call("GET", tokens_path(workspace), token).json()[0]["token_id"]
            self.assertEqual(self.call("DELETE", f"{tokens_path(workspace)}/{token_id}", token).status, 200)
            self.assertEqual(ask_all(), {401})
        finally:
            for wire in wires:
                wire.close()

    def test_a_token_that_was_revoked_by_another_server_brings_no_new_one(self):
        workspace, token = self.register()
        again = request("POST", "/registry/register", token, poll_workspace(workspace))
        with Wire(self.server.address, source=self.source) as wire:
            wire.send(again)
            self.assertEqual(wire.read_answer().status, 200, "the shard of this connection remembers the token")
            self.db.session.query(
                f"UPDATE workspace_auth_tokens SET revoked_at = now() WHERE workspace_id = '{workspace}'")
            wire.send(again)
            self.assert_invalid(wire.read_answer())
        self.assertEqual(self.db.session.value(
            f"SELECT count(*) FROM workspace_auth_tokens WHERE workspace_id = '{workspace}'"), "1")
        renewed = self.call("POST", "/registry/register", self.admin, poll_workspace(workspace))
        self.assertEqual(self.status_of(workspace, renewed.json()["auth_token"]), 200)

    def test_last_use_is_noted_in_the_background(self):
        workspace, token = self.register()
        self.assertEqual(self.status_of(workspace, token), 200)
        stamp = f"SELECT last_used_at FROM workspace_auth_tokens WHERE workspace_id = '{workspace}'"
        await_true(lambda: self.db.session.value(stamp), 10, "last_used_at is written")


class Removal(IdentityCase):
    def test_it_is_confirmed_final_and_leaves_staged_files_alone(self):
        workspace, token = self.register()
        body = form(part(b"kept"))
        self.assertEqual(upload(self.server.address, Workspace(workspace, token), body, PLAIN).status, 200)
        path = f"/workspaces/{workspace}"
        for target in (path, f"{path}?confirm=false", f"{path}?confirm=1"):
            self.assertEqual(self.call("DELETE", target, token).status, 400)
        removed = self.call("DELETE", f"{path}?confirm=true", token)
        self.assertEqual((removed.status, removed.json()), (200, {"status": "removed", "cascade_deleted": 0}))

        self.assert_invalid(self.call("GET", tokens_path(workspace), token))
        for name in ((), [("X-Confirm-Name", "laptop")]):
            again = self.call("DELETE", f"{path}?confirm=true", self.admin, headers=name)
            self.assertEqual((again.status, again.json()["code"], again.json()["id"]), (410, "workspace_removed", workspace))
            self.assertLessEqual({"removed_at", "hint"}, again.json().keys())
            unknown = self.call("DELETE", f"/workspaces/{uuid.uuid4()}?confirm=true", self.admin, headers=name)
            self.assertEqual((unknown.status, unknown.json()["code"]), (404, "workspace_not_found"))
        self.assertEqual(self.call("POST", tokens_path(workspace), self.admin).status, 404)
        for shown in (None, token, self.admin):
            self.assertEqual(self.call("POST", REGISTER, shown, poll_workspace(workspace)).status, 410)
        self.assertEqual(self.db.session.value(
            f"SELECT count(*) FROM pending_uploads WHERE workspace_id = '{workspace}'"), "1")

    def test_another_workspace_cannot_remove_it(self):
        workspace, token = self.register()
        _, foreign = self.register()
        self.assert_invalid(self.call("DELETE", f"/workspaces/{workspace}?confirm=true", foreign))
        self.assertEqual(self.status_of(workspace, token), 200)


class Development(IdentityCase):
    flags = ("--dev",)

    def test_loopback_needs_no_bearer_but_a_wrong_one_is_wrong(self):
        workspace, token = self.register()
        self.assertEqual(self.status_of(workspace, None), 200)
        self.assertEqual(self.status_of(workspace, token), 200)
        self.assert_invalid(self.call("GET", tokens_path(workspace), secrets.token_urlsafe(32)))
        again = self.call("POST", REGISTER, body=poll_workspace(workspace))
        self.assertEqual((again.status, "auth_token" in again.json()), (200, False))


class NoAdmin(IdentityCase):
    """A server without an admin token."""

    @classmethod
    def start_server(cls, *flags):
        return cls.enterClassContext(Server(cls.db.conninfo, *flags)).wait_ready()

    def test_nobody_is_admin_whatever_they_show(self):
        workspace, _ = self.register()
        for shown in (self.admin, "", " "):
            self.assertEqual(self.status_of(workspace, shown), 401)


if __name__ == "__main__":
    unittest.main()
