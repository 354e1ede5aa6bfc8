#!/usr/bin/env python3
"""What happens to a write while it is on its way: its token is revoked, its workspace removed, somebody else's rows
are locked, the reply to COMMIT is lost, the same message comes twice."""

import json
import signal
import tempfile
import threading
import time
import unittest
import uuid

import told_tokens
from forms import PLAIN, form, part
from http_wire import Wire, await_true
from identity_case import IdentityCase, call, poll_workspace, request
from inbox_case import InboxCase
from pg_client import Session
from pg_proxy import PostgresProxy, Strike
from server_process import Server
from testbed import Database, Workspace, upload, upload_head

MESSAGE = {"jsonrpc": "2.0", "id": 1, "method": "message/send",
           "params": {"message": {"messageId": "m-1", "parts": [{"kind": "text", "text": "hi"}]}}}


class WhileTheBodyIsRead(InboxCase):
    """The head has been authorised; the rest of the body arrives after things have changed."""

    def upload_around(self, change, size=2000):
        body = form(part(b"x" * size))
        with Wire(self.server.address) as wire:
            wire.send(upload_head(self.workspace, PLAIN, len(body)) + body[:200])
            # The server has taken the request once it waits for the rest of it.
            await_true(lambda: self.server.get("/healthz").status == 200, 5, "the server runs")
            time.sleep(0.2)
            change()
            wire.send(body[200:])
            return wire.read_answer()

    def assert_nothing_stored(self):
        self.assertEqual(self.db.files(self.workspace), [])
        self.assertEqual(self.db.session.value(
            f"SELECT count(*) FROM activity_logs WHERE workspace_id = '{self.workspace.id}'"), "0")

    def revoke(self):
        """By another server or the command line: this one is not notified."""
        self.db.session.query(
            f"UPDATE workspace_auth_tokens SET revoked_at = now() WHERE workspace_id = '{self.workspace.id}'")

    def remove(self):
        self.db.session.query(f"UPDATE workspaces SET removed_at = now() WHERE id = '{self.workspace.id}'")

    def test_the_token_is_revoked(self):
        for size in (2000, 3_000_000):
            with self.subTest(size=size):
                self.workspace = self.db.add_workspace()
                answer = self.upload_around(self.revoke, size)
                self.assertEqual((answer.status, answer.json()["code"]), (401, "invalid_token"), answer)
                self.assertEqual(answer.headers["www-authenticate"], "Bearer")
                self.assert_nothing_stored()

    def test_the_workspace_is_removed(self):
        for size in (2000, 3_000_000):
            with self.subTest(size=size):
                self.workspace = self.db.add_workspace()
                answer = self.upload_around(self.remove, size)
                self.assertEqual((answer.status, answer.json()["code"]), (404, "workspace_not_found"), answer)
                self.assert_nothing_stored()

    def test_messages_and_reports_too(self):
        for path, body in (("/a2a", MESSAGE), ("/activity", {"activity_type": "agent_log"})):
            with self.subTest(path=path):
                self.workspace = self.db.add_workspace()
                text = json.dumps(body).encode()
                whole = self.head("POST", path, body=text)
                with Wire(self.server.address) as wire:
                    wire.send(whole[:-5])
                    time.sleep(0.2)
                    self.revoke()
                    wire.send(whole[-5:])
                    self.assertEqual(wire.read_answer().status, 401)
                self.assert_nothing_stored()


class WhileASlowBodyIsRead(IdentityCase):
    """Bodies may take minutes. What is not a row of the feed has no transaction that looks at the token again."""

    def setUp(self):
        super().setUp()
        self.workspace, self.token = self.register()
        self.path = f"/workspaces/{self.workspace}"

    def stage(self):
        staged = upload(self.server.address, Workspace(self.workspace, self.token), form(part(b"x")), PLAIN)
        return staged.json()["files"][0]["file_id"]

    def revoke(self):
        """By an answered request: every shard knows."""
        token = self.call("GET", f"{self.path}/tokens", self.admin).json()[0]["token_id"]
        self.assertEqual(self.call("DELETE", f"{self.path}/tokens/{token}", self.admin).status, 200)

    def begin(self, method, path, token, body):
        """All but the last byte."""
        whole = request(method, path, token, body)
        wire = self.enterContext(Wire(self.server.address, source=self.source))
        wire.send(whole[:-1])
        return wire, whole[-1:]

    def test_a_revoked_token_does_nothing_any_more(self):
        file = self.stage()
        heartbeat = {"workspace_id": self.workspace}
        self.assertEqual(self.call("POST", "/registry/heartbeat", self.token, heartbeat).status, 200)
        asked = (("POST", f"{self.path}/tokens", {}), ("POST", f"{self.path}/upload-grants", {}),
                 ("POST", "/registry/register", {**poll_workspace(self.workspace), "name": "taken"}),
                 ("POST", "/registry/heartbeat", heartbeat),
                 ("POST", f"{self.path}/pending-uploads/{file}/ack", {}),
                 ("POST", f"{self.path}/pending-uploads/ack", {"file_ids": [file]}),
                 ("PATCH", self.path, {"name": "taken"}), ("POST", f"{self.path}/activity/ack", {"seq": 1}))
        begun = [(method, path, *self.begin(method, path, self.token, body)) for method, path, body in asked]
        time.sleep(1.2)
        self.revoke()
        for method, path, wire, rest in begun:
            with self.subTest(method=method, path=path):
                wire.send(rest)
                answer = wire.read_answer()
                # Beyond 20 from one address they are 429.
                self.assert_invalid(answer)
        self.assertEqual(self.db.session.query(
            f"SELECT count(*) FROM workspace_auth_tokens WHERE workspace_id = '{self.workspace}' UNION ALL "
            f"SELECT count(*) FROM pending_uploads WHERE workspace_id = '{self.workspace}' AND acked_at IS NULL UNION ALL "
            f"SELECT count(*) FROM workspaces WHERE id = '{self.workspace}' AND name = 'laptop' AND removed_at IS NULL"),
            [("1",), ("1",), ("1",)])
        # A beat that was on its way has not brought the token back among those that are remembered.
        self.assert_invalid(self.call("POST", "/registry/heartbeat", self.token, heartbeat))

    def test_a_slow_one_that_is_still_good_is_served(self):
        wire, rest = self.begin("POST", f"{self.path}/tokens", self.token, {})
        again, last = self.begin("POST", f"/admin{self.path}/tokens", self.admin, {})
        time.sleep(1.2)
        wire.send(rest)
        again.send(last)
        self.assertEqual((wire.read_answer().status, again.read_answer().status), (201, 201))

    def test_an_admin_token_that_was_replaced_does_nothing_any_more(self):
        with tempfile.NamedTemporaryFile("w", prefix="restante-admin-") as secret:
            secret.write(self.admin)
            secret.flush()
            server = self.enterContext(Server(self.db.conninfo, "--admin-token-file", secret.name, "--threads", "1")).wait_ready()
            begun = []
            for method, path in (("POST", f"/admin{self.path}/tokens"), ("PUT", f"{self.path}/quota")):
                whole = request(method, path, self.admin, {})
                wire = self.enterContext(Wire(server.address))
                wire.send(whole[:-1])
                begun.append((wire, whole[-1:]))
            time.sleep(1.2)
            secret.seek(0)
            secret.write(told_tokens.remember("another" + self.admin))
            secret.flush()
            server.process.send_signal(signal.SIGHUP)
            await_true(lambda: call(server, "GET", "/workspaces", self.admin).status == 401, 5, "it is replaced")
            for wire, rest in begun:
                wire.send(rest)
                answer = wire.read_answer()
                self.assertEqual((answer.status, answer.json()["code"]), (401, "invalid_admin_token"), answer)


class Once(InboxCase):
    def rows(self):
        return int(self.db.session.value(
            f"SELECT count(*) FROM activity_logs WHERE workspace_id = '{self.workspace.id}'"))

    def with_key(self, path, body, key):
        return self.call("POST", path, headers=[("Idempotency-Key", key)], body=body)

    def test_a_message_id_is_stored_once(self):
        first = self.post("/a2a", MESSAGE)
        other = dict(MESSAGE, id=2)
        again = self.post("/a2a", other)
        self.assertEqual((first.status, again.status, first.body), (200, 200, again.body))
        self.assertEqual(self.rows(), 1)
        self.assertEqual(self.get("/activity").json()[0]["request_body"]["id"], 1, "the first body stays")
        elsewhere = self.db.add_workspace()
        self.assertEqual(self.post("/a2a", MESSAGE, elsewhere).status, 200)
        self.assertEqual(len(self.get("/activity", elsewhere).json()), 1, "ids are per workspace")

    def test_a_message_id_from_many_senders_at_once_is_stored_once(self):
        answers = []
        senders = [threading.Thread(target=lambda: answers.append(self.post("/a2a", MESSAGE))) for _ in range(16)]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        self.assertEqual({answer.status for answer in answers} - {409}, {200})
        self.assertEqual(self.rows(), 1)

    def test_idempotency_keys(self):
        report = {"activity_type": "agent_log", "summary": "s"}
        message = {"jsonrpc": "2.0", "method": "message/send", "params": {}}
        for path, body, other in (("/activity", report, dict(report, summary="t")),
                                  ("/a2a", message, dict(message, id=7))):
            with self.subTest(path=path):
                self.workspace = self.db.add_workspace()
                first, again = self.with_key(path, body, "k"), self.with_key(path, body, "k")
                self.assertEqual((first.status, again.status), (200, 200), again)
                self.assertNotIn("idempotency-replayed", first.headers)
                self.assertEqual(again.headers["idempotency-replayed"], "true")
                self.assertEqual(first.body, again.body)
                reused = self.with_key(path, other, "k")
                self.assertEqual((reused.status, reused.json()["code"]), (422, "idempotency_key_reused"))
                self.assertEqual(self.with_key(path, body, "").status, 400)
                self.assertEqual(self.rows(), 1)

    def test_a_key_whose_files_have_expired(self):
        body = form(part(b"x"))
        keyed = [("Idempotency-Key", "k")]
        self.assertEqual(upload(self.server.address, self.workspace, body, PLAIN, keyed).status, 200)
        self.db.session.query("UPDATE upload_requests SET files_expire_at = now()")
        again = upload(self.server.address, self.workspace, body, PLAIN, keyed)
        self.assertEqual((again.status, again.json()["code"]), (410, "idempotent_files_gone"), again)
        self.assertEqual(len(self.db.files(self.workspace)), 1)


class LostReplies(unittest.TestCase):
    """The connection to PostgreSQL breaks around COMMIT of a message: the answer is what is true."""

    @classmethod
    def setUpClass(cls):
        cls.db = cls.enterClassContext(Database())
        cls.proxy = cls.enterClassContext(PostgresProxy(cls.db.conninfo))
        cls.server = cls.enterClassContext(Server(cls.proxy.conninfo, "--db-connections", "8"))
        cls.server.wait_ready()

    def post(self, path, body):
        text = json.dumps(body).encode()
        head = (f"POST /workspaces/{self.workspace.id}{path} HTTP/1.1\r\nHost: localhost\r\n"
                f"Authorization: Bearer {self.workspace.token}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(text)}\r\n\r\n").encode()
        with Wire(self.server.address) as wire:
            wire.send(head + text)
            return wire.read_answer()

    def rows(self):
        return int(self.db.session.value(
            f"SELECT count(*) FROM activity_logs WHERE workspace_id = '{self.workspace.id}'"))

    def strike(self, strike, path, body):
        """Posts until the strike has hit a COMMIT; the link of the strike before may still be replaced."""
        self.proxy.arm(strike)
        for _ in range(20):
            answer = self.post(path, body)
            if self.proxy.struck.is_set():
                return answer
            self.assertEqual(answer.status, 503, answer)
            time.sleep(0.1)
        self.fail(f"never came to COMMIT: {answer}")

    def test_cut_around_commit(self):
        for path, body in (("/a2a", MESSAGE), ("/activity", {"activity_type": "agent_log"})):
            for strike, status in ((Strike.AFTER_COMMIT, 200), (Strike.BEFORE_COMMIT, 503)):
                with self.subTest(path=path, strike=strike):
                    self.workspace = self.db.add_workspace()
                    await_true(lambda: self.server.get("/readyz").status == 200, 15, "ready")
                    answer = self.strike(strike, path, body)
                    self.assertEqual(answer.status, status, answer)
                    self.assertEqual(self.rows(), 1 if status == 200 else 0)


class LockedNeighbour(InboxCase):
    """The head of one feed is locked by somebody else, with many uploaders to it. Before, others waited 21 s."""

    def test_others_go_on(self):
        self.crowd(lambda: ())

    def test_others_go_on_with_keys(self):
        """Requests with a key have transactions of their own, and so do messages with an id and grants."""
        self.crowd(lambda: [("Idempotency-Key", str(uuid.uuid4()))])

    def crowd(self, headers):
        locked, others = self.workspace, [self.db.add_workspace() for _ in range(4)]
        self.stage(b"x", workspace=locked)
        stop, answers, slowest = threading.Event(), [], [0.0]

        def send(workspace, note):
            while not stop.is_set():
                begun = time.monotonic()
                answer = upload(self.server.address, workspace, form(part(b"y")), PLAIN, headers())
                note(answer, time.monotonic() - begun)

        def note_other(answer, seconds):
            answers.append(answer.status)
            slowest[0] = max(slowest[0], seconds)

        with Session(self.db.conninfo) as holder:
            holder.query(f"BEGIN; SELECT FROM activity_heads WHERE workspace_id = '{locked.id}' FOR UPDATE")
            crowd = [threading.Thread(target=send, args=(locked, lambda *_: None)) for _ in range(60)]
            rest = [threading.Thread(target=send, args=(each, note_other)) for each in others]
            for sender in crowd + rest:
                sender.start()
            time.sleep(6)
            holder.query("ROLLBACK")
        stop.set()
        for sender in crowd + rest:
            sender.join()
        print(f"\n{len(answers)} uploads of others, the slowest took {slowest[0]:.1f} s", flush=True)
        self.assertEqual(set(answers), {200})
        self.assertLess(slowest[0], 6)
        self.assertGreater(len(answers), 40)
        await_true(lambda: upload(self.server.address, locked, form(part(b"z")), PLAIN).status == 200, 15,
                   "the workspace takes uploads again")


if __name__ == "__main__":
    unittest.main()
