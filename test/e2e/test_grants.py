#!/usr/bin/env python3
"""Upload grants: bearers that are good for so many files, exactly, on any server."""

import collections
import json
import threading
import time
import unittest

from forms import PLAIN, form, noise, part
from grant_case import GrantCase
from http_wire import Wire, await_true, request_head
from pg_proxy import PostgresProxy, Strike
from server_process import Server, run_command
from testbed import Workspace, upload_head
from websocket_client import Closed, WebSocket

KIB = 1024
MIB = 1024 * KIB


class OneLife(GrantCase):
    def test_from_the_link_to_the_last_upload_on_two_servers(self):
        minted = self.grant(max_requests=2, max_files=3, max_bytes=100, types=["text/*"], note="for Bo")
        self.assertEqual(minted["page_url"], f"http://test/send#{minted['grant']}")
        self.assertEqual(minted["left"], {"requests": 2, "files": 3, "bytes": 100})
        self.assertEqual((minted["note"], minted["types"], minted["created_by"]), ("for Bo", ["text/*"], self.token[:8]))
        answer = self.send(minted["grant"], server=self.second)
        self.assertEqual(answer.status, 200, answer)
        file = answer.json()["files"][0]["file_id"]
        shown = self.listed(minted)
        self.assertEqual(shown["used"], {"requests": 1, "files": 1, "bytes": 5})
        self.assertEqual(shown["left"], {"requests": 1, "files": 2, "bytes": 95})
        self.assertNotIn("grant", shown)
        self.assertEqual(self.db.session.value(f"SELECT staged_by FROM pending_uploads WHERE file_id = '{file}'"),
                         minted["grant_id"])
        two = form(part("1", "1", "text/plain"), part("2", "2", "text/html"))
        self.assertEqual(self.send(minted["grant"], two).status, 200)
        for server in (self.server, self.second):
            self.assert_code(self.send(minted["grant"], server=server), 403, "grant_exhausted")
        self.assertEqual(self.listed(minted)["left"], {"requests": 0, "files": 0, "bytes": 93})
        self.assertEqual(self.stored(), (3, 3))

    def test_the_grant_is_nowhere_in_the_database(self):
        secret = self.grant()["grant"]
        self.assertEqual(self.db.session.value(
            f"SELECT count(*) FROM workspace_auth_tokens t WHERE t::text LIKE '%{secret}%'"), "0")

    def test_revoked_on_one_server_is_refused_on_the_other(self):
        minted = self.grant(max_requests=100)
        for server in (self.server, self.second):
            self.assertEqual(self.send(minted["grant"], server=server).status, 200)
        one = f"{self.path}/upload-grants/{minted['grant_id']}"
        self.assertEqual(self.call("DELETE", one, self.token).status, 200)
        self.assertEqual(self.call("DELETE", one, self.token).status, 200, "again")
        self.assert_invalid(self.send(minted["grant"]))
        await_true(lambda: self.send(minted["grant"], server=self.second).status == 401, 5, "the other one knows")
        self.assertIsNotNone(self.listed(minted)["revoked_at"])
        other, _ = self.register()
        self.assert_code(self.call("DELETE", f"/workspaces/{other}/upload-grants/{minted['grant_id']}", self.admin),
                         404, "grant_not_found")
        self.assert_code(self.call("DELETE", f"{self.path}/tokens/{minted['grant_id']}", self.token), 404, "not_found")

    def test_a_link_for_others(self):
        with Server(self.db.conninfo, "--public-url", "https://files.example.com/box/") as server:
            server.wait_ready()
            minted = self.grant(server=server)
        self.assertEqual(minted["page_url"], f"https://files.example.com/box/send#{minted['grant']}")


class Limits(GrantCase):
    def assert_unused(self, minted):
        self.assertEqual(self.listed(minted)["used"], {"requests": 0, "files": 0, "bytes": 0})
        self.assertEqual(self.stored(), (0, 0))

    def test_too_large_and_the_wrong_type_use_nothing(self):
        minted = self.grant(max_bytes=10, max_files=2, types=["image/*"])
        for body, status, code in (
                (form(part("x" * 11, "a.png", "image/png")), 413, "request_too_large"),
                (form(part("x", "a.txt", "text/plain")), 415, "unsupported_media_type"),
                (form(part("x", "a.png", "image/png"), part("x", "b")), 415, "unsupported_media_type"),
                (form(*[part("x", "a.png", "image/png")] * 3), 403, "grant_exhausted"),
                (form(part("", "a.png", "image/png")), 400, "empty_file"),
                (b"nonsense", 400, "malformed_multipart")):
            self.assert_code(self.send(minted["grant"], body), status, code)
        self.assert_unused(minted)

    def test_a_length_that_cannot_fit_is_refused_before_the_body(self):
        minted = self.grant(max_bytes=MIB)
        for left, code in (("", "request_too_large"), (f"used_bytes = {MIB - 1}", "grant_exhausted")):
            if left:
                minted = self.grant(max_bytes=MIB)
                self.db.session.query(
                    f"UPDATE workspace_auth_tokens SET {left} WHERE id = '{minted['grant_id']}'")
            length = 2 * MIB if not left else 600 * KIB
            with Wire(self.server.address) as wire:
                wire.send(request_head("POST", f"{self.path}/chat/uploads", [
                    ("Host", "test"), ("Authorization", f"Bearer {minted['grant']}"),
                    ("Content-Type", "multipart/form-data; boundary=b"), ("Content-Length", str(length)),
                    ("Expect", "100-continue")]))
                self.assert_code(wire.read_answer(), 413 if not left else 403, code)

    def test_one_without_a_file_or_a_byte_left_gets_no_100_continue(self):
        for used in ("used_files = max_files", "used_bytes = max_bytes"):
            minted = self.grant(max_files=2, max_requests=3, max_bytes=100)
            self.db.session.query(f"UPDATE workspace_auth_tokens SET {used} WHERE id = '{minted['grant_id']}'")
            with Wire(self.server.address) as wire:
                wire.send(upload_head(Workspace(self.id, minted["grant"]), PLAIN, 300, [("Expect", "100-continue")]))
                self.assert_code(wire.read_answer(), 403, "grant_exhausted")

    def test_what_a_form_carries_besides_its_files_is_not_counted(self):
        minted = self.grant(max_bytes=5)
        field = b'--b\r\nContent-Disposition: form-data; name="comment"\r\n\r\n' + b"y" * 1000 + b"\r\n"
        body = form(part("hello", "a.txt", "text/plain"))
        self.assertTrue(body.startswith(b"--b\r\n"))
        self.assertEqual(self.send(minted["grant"], field + body).status, 200)
        self.assertEqual(self.listed(minted)["used"]["bytes"], 5)

    def test_a_repetition_under_its_key_uses_nothing(self):
        minted = self.grant()
        key = [("Idempotency-Key", "once")]
        first = self.send(minted["grant"], headers=key)
        again = self.send(minted["grant"], server=self.second, headers=key)
        self.assertEqual((again.status, again.body), (first.status, first.body))
        self.assertEqual(again.headers["idempotency-replayed"], "true")
        self.assertEqual(self.listed(minted)["used"]["requests"], 1)
        other = form(part("other", "a.txt", "text/plain"))
        self.assert_code(self.send(minted["grant"], other, headers=key), 422, "idempotency_key_reused")
        self.assert_code(self.send(minted["grant"], other, headers=[("Idempotency-Key", "two")]), 403,
                         "grant_exhausted")

    def test_keys_of_two_senders_are_strangers(self):
        key = [("Idempotency-Key", "shared")]
        bearers = [self.grant()["grant"], self.grant()["grant"], self.mint("upload")["auth_token"], self.token]
        answers = [self.send(bearer, headers=key) for bearer in bearers]
        self.assertEqual([answer.status for answer in answers], [200] * 4)
        self.assertFalse([a for a in answers if "idempotency-replayed" in a.headers])
        self.assertEqual(self.stored(), (4, 4))

    def test_bad_requests_for_grants(self):
        for fields in ({"expires_in": 0}, {"max_files": "5"}, {"types": ["*"]}, {"note": "x" * 300}):
            answer = self.call("POST", f"{self.path}/upload-grants", self.token, fields)
            self.assert_code(answer, 400, "bad_request")
            self.assertIn(next(iter(fields)), answer.json()["error"])
        self.assertEqual(self.call("POST", f"{self.path}/upload-grants", self.token).status, 201, "no body")

    def test_a_workspace_that_is_called_takes_none(self):
        self.db.session.query(f"UPDATE workspaces SET delivery_mode = 'push', url = 'http://127.0.0.1:1' "
                              f"WHERE id = '{self.id}'")
        self.assert_code(self.send(self.grant()["grant"]), 403, "insufficient_scope")


class Meanwhile(GrantCase):
    """The head has been authorised; the grant ends before the body does."""

    def end(self, how):
        self.db.session.query(f"UPDATE workspace_auth_tokens SET {how} WHERE workspace_id = '{self.id}' "
                              "AND scope <> 'full'")

    def test_revoked_or_expired(self):
        for how in ("revoked_at = now()", "expires_at = now()"):
            for size in (2000, 3 * MIB):
                with self.subTest(how=how, size=size):
                    minted = self.grant()
                    answer = self.send_around(minted["grant"], lambda: self.end(how), size)
                    self.assert_invalid(answer)
                    self.assertEqual(self.listed(minted)["used"], {"requests": 0, "files": 0, "bytes": 0})
                    token = self.mint("upload", expires_in=3600)["auth_token"]
                    self.assert_invalid(self.send_around(token, lambda: self.end(how), size))
                    self.assertEqual(self.stored(), (0, 0))

    def test_it_runs_out(self):
        """By itself, and on a server that has it in its cache."""
        minted = self.grant(expires_in=4, max_requests=1000)
        self.assertEqual(self.send(minted["grant"]).status, 200)
        await_true(lambda: self.send(minted["grant"]).status == 401, 4, "it is over")
        late = ("SELECT count(*) FROM pending_uploads p JOIN workspace_auth_tokens t ON p.staged_by = t.id "
                f"WHERE t.id = '{minted['grant_id']}' AND p.created_at > t.expires_at")
        self.assertEqual(self.db.session.value(late), "0")


class Contention(GrantCase):
    def test_fifty_clients_on_two_servers_store_one_upload(self):
        for size in (1000, 2 * MIB):
            with self.subTest(size=size):
                self.setUp()
                minted, body = self.grant(), form(part(noise(size, size), "a.bin", "a/b"))
                answers, guard, start = [], threading.Lock(), threading.Barrier(50)

                def send(server):
                    start.wait(30)
                    answer = self.send(minted["grant"], body, server)
                    with guard:
                        answers.append(answer)

                clients = [threading.Thread(target=send, args=((self.server, self.second)[i % 2],)) for i in range(50)]
                for client in clients:
                    client.start()
                for client in clients:
                    client.join()
                told = collections.Counter(answer.status for answer in answers)
                self.assertEqual(told[200], 1, told)
                # Those that waited too long for the row that the others hold may be asked to come again.
                self.assertLessEqual(set(told), {200, 403, 503}, told)
                self.assertEqual(self.stored(), (1, 1))
                self.assertEqual(self.listed(minted)["used"]["requests"], 1)


class LostCommit(GrantCase):
    def test_the_reply_to_commit_is_lost(self):
        """Whatever the server finds out about the COMMIT, the grant says the same."""
        with PostgresProxy(self.db.conninfo) as proxy, Server(proxy.conninfo, "--threads", "1") as server:
            server.wait_ready()
            for strike, status in ((Strike.AFTER_COMMIT, 200), (Strike.BEFORE_COMMIT, 503)):
                for size in (1000, 2 * MIB):
                    with self.subTest(strike=strike, size=size):
                        await_true(lambda: server.get("/readyz").status == 200, 30, "ready")
                        minted, before = self.grant(), self.stored()[0]
                        answer = self.strike(proxy, strike, server, minted["grant"], size)
                        self.assertEqual(answer.status, status, answer)
                        stored = 1 if status == 200 else 0
                        self.assertEqual(self.stored()[0], before + stored)
                        self.assertEqual(self.listed(minted)["used"]["requests"], stored)

    def strike(self, proxy, strike, server, bearer, size):
        """Sends until the strike has hit a COMMIT; the link of the strike before may still be replaced."""
        body = form(part(noise(size, size), "a.bin", "a/b"))
        proxy.arm(strike)
        for _ in range(20):
            answer = self.send(bearer, body, server)
            if proxy.struck.is_set():
                return answer
            self.assertEqual(answer.status, 503, answer)
            time.sleep(0.1)
        self.fail(f"never came to COMMIT: {answer}")


class Sockets(GrantCase):
    def test_a_grant_hears_nothing_of_the_feed(self):
        minted = self.grant(max_requests=10)
        with WebSocket(self.server.address, token=minted["grant"]) as grant, \
                WebSocket(self.server.address, token=self.token) as owner:
            self.assertEqual(self.send(minted["grant"]).status, 200)
            self.assertEqual(owner.next_event(30)["event"], "ACTIVITY_LOGGED")
            self.call("DELETE", f"{self.path}/upload-grants/{minted['grant_id']}", self.token)
            with self.assertRaises(Closed) as ended:
                grant.next_event(30)
            self.assertEqual(ended.exception.code, 1008, "nothing came before the end")


class Commands(GrantCase):
    def command(self, *words):
        return run_command(*words, "--database-url", self.db.conninfo)

    def test_create_list_revoke(self):
        code, link, said = self.command("grant", "create", self.id, "--files", "2", "--bytes", "1KiB", "--types",
                                        "text/*,image/png", "--note", "by hand", "--expires", "1h",
                                        "--public-url", "https://x.example")
        self.assertEqual(code, 0, said)
        base, _, grant = link.strip().partition("/send#")
        self.assertEqual((base, len(grant)), ("https://x.example", 43))
        self.assertEqual(self.send(grant).status, 200)
        code, table, _ = self.command("grant", "list", self.id)
        self.assertIn("REQUESTS LEFT", table)
        self.assertIn("by hand", table)
        shown, = json.loads(self.command("grant", "list", self.id, "--json")[1])
        self.assertEqual((shown["left"], shown["types"], shown["created_by"]),
                         ({"requests": 0, "files": 1, "bytes": 1019}, ["text/*", "image/png"], "admin"))
        made = json.loads(self.command("grant", "create", self.id, "--json")[1])
        self.assertEqual(self.send(made["grant"]).status, 200)
        self.assertEqual(self.command("grant", "revoke", self.id, made["grant_id"])[0], 0)
        await_true(lambda: self.send(made["grant"]).status == 401, 6, "the server follows")
        self.assertEqual(self.command("grant", "revoke", self.id, self.id)[0], 1)
        for wrong in (("--types", "*"), ("--bytes", "many"), ("--expires", "31d"), ("--files", "0")):
            self.assertEqual(self.command("grant", "create", self.id, *wrong)[0], 2, wrong)

    def test_tokens_with_scopes(self):
        code, token, _ = self.command("token", "issue", self.id, "--scope", "read", "--name", "wall", "--expires", "1h")
        self.assertEqual(code, 0)
        self.assertEqual(self.call("GET", f"{self.path}/activity", token.strip()).status, 200)
        self.assert_code(self.call("GET", f"{self.path}/tokens", token.strip()), 403, "insufficient_scope")
        newest = json.loads(self.command("token", "list", self.id, "--json")[1])[0]
        self.assertEqual((newest["scope"], newest["name"]), ("read", "wall"))
        self.assertIsNotNone(newest["expires_at"])
        self.assertIn("SCOPE", self.command("token", "list", self.id)[1])
        made = json.loads(self.command("token", "issue", self.id, "--scope", "upload", "--json")[1])
        self.assertEqual(self.send(made["auth_token"]).status, 200)
        for wrong in (("--scope", "grant"), ("--expires", "soon")):
            self.assertEqual(self.command("token", "issue", self.id, *wrong)[0], 2, wrong)


if __name__ == "__main__":
    unittest.main()
