"""The OpenAPI document: valid, served as it is printed, and what the document of the API says; and that the check which
every other test's answers pass through finds what is undocumented."""

import importlib.machinery
import importlib.util
import json
import pathlib
import subprocess
import unittest

import api_document
import conformance
import node_packages
from http_wire import Answer
from server_case import ServerCase
from server_process import BINARY, Server
from testbed import Database

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
OURS = {"x-request-id": "12345678", "x-content-type-options": "nosniff"}
JSON = {**OURS, "content-type": "application/json"}
ERROR = {**JSON, "cache-control": "no-store", "x-trace-id": "0" * 31 + "1"}
TOKENS = "/workspaces/00000000-aaaa-4000-8000-000000000001/tokens"
TOKEN = {"token_id": "00000000-aaaa-4000-8000-000000000001", "prefix": "12345678", "scope": "full", "name": None,
         "created_at": "2026-01-02T03:04:05.678901Z", "last_used_at": None, "expires_at": None, "revoked_at": None}


def load_script(name):
    loader = importlib.machinery.SourceFileLoader(name, str(SOURCE / "scripts" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


class Document(ServerCase):
    def test_a_public_validator_finds_it_valid(self):
        node_packages.install()
        served = self.server.get("/openapi.json")
        done = subprocess.run(["node", "validate_openapi.mjs"], cwd=node_packages.FOLDER, input=served.body, timeout=60,
                              capture_output=True, check=True)
        self.assertEqual(json.loads(done.stdout), {"valid": True, "version": "3.1", "errors": []})

    def test_the_command_prints_what_a_server_serves_with_its_own_limits(self):
        served = self.server.get("/openapi.json").json()
        self.assertEqual(served, json.loads(subprocess.run([BINARY, "openapi"], capture_output=True, check=True).stdout))
        with Database() as db, Server(
                db.conninfo, "--max-file-bytes", "1000000", "--max-request-bytes", "1000000", "--max-message-bytes",
                "70000") as small:
            other = small.get("/openapi.json").json()
        self.assertEqual((other["x-limits"]["request_bytes"], other["x-limits"]["message_bytes"]), (1_000_000, 70_000))
        limit = lambda path: other["paths"][path]["post"]["requestBody"]["x-max-bytes"]
        self.assertEqual(limit("/workspaces/{id}/a2a"), 70_000)
        self.assertEqual(limit("/workspaces/{id}/chat/uploads"), 1_000_000 + 256 * 1024)

    def test_the_table_of_routes_is_made_of_it(self):
        script = load_script("routes_table")
        self.assertEqual(script.written(), script.table(BINARY), "run scripts/routes_table BINARY --write")


class Check(unittest.TestCase):
    def setUp(self):
        self.document = api_document.load(BINARY)

    def complaint(self, status, headers, body, method="GET", target=TOKENS, **how):
        try:
            text = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
            self.document.check(method, target, status, headers, text, **how)
        except api_document.Undocumented as found:
            api_document.Undocumented.found.remove(str(found))
            return str(found)
        return None

    def test_what_is_documented_passes(self):
        missing = {"error": "missing workspace auth token", "code": "missing_token"}
        for case in (
                (200, JSON, []), (200, JSON, [TOKEN] * 40), (200, {**JSON, "cache-control": "no-store"}, [TOKEN]),
                (401, {**ERROR, "www-authenticate": "Bearer"}, missing),
                (200, {**JSON, "vary": "Origin", "access-control-allow-origin": "https://a"}, [])):
            with self.subTest(case=case):
                self.assertIsNone(self.complaint(*case))
        self.assertIsNone(self.complaint(204, {**OURS, "allow": "GET"}, b"", "OPTIONS"))
        self.assertIsNone(self.complaint(404, ERROR, {"error": "no such path", "code": "no_such_route"}, target="/nowhere"))

    def test_what_is_not_is_found(self):
        error = {"error": "a", "code": "missing_token"}
        challenge = {**ERROR, "www-authenticate": "Bearer"}
        without = {name: value for name, value in TOKEN.items() if name != "prefix"}
        for wrong, *case in (
                ("status is undocumented", 202, JSON, []),
                ("x-more is undocumented", 200, {**JSON, "x-more": "1"}, []),
                ("no x-request-id", 200, {**JSON, "x-request-id": None}, []),
                ("undocumented member more", 200, JSON, [{**TOKEN, "more": 1}]),
                ("undocumented member more", 200, JSON, [TOKEN] * 40 + [{**TOKEN, "more": 1}]),
                ("has no prefix", 200, JSON, [without]),
                ("scope: is none of", 200, JSON, [{**TOKEN, "scope": "all"}]),
                ("is no string or null", 200, JSON, [{**TOKEN, "name": 7}]),
                ("does not match", 200, JSON, [{**TOKEN, "created_at": "2026-01-02"}]),
                ("is no array", 200, JSON, {}),
                ("media type is undocumented", 200, {**OURS, "content-type": "text/html"}, b"<p>"),
                ("undocumented member more", 401, challenge, {**error, "more": 1}),
                ("fits 0", 401, challenge, {**error, "code": "not_found"}),
                ("no www-authenticate", 401, ERROR, error),
                ("no x-trace-id", 401, {**JSON, "cache-control": "no-store", "www-authenticate": "Bearer"}, error)):
            status, headers, body = case
            headers = {name: value for name, value in headers.items() if value is not None}
            with self.subTest(wrong=wrong, body=body):
                self.assertIn(wrong, self.complaint(status, headers, body) or "")
        self.assertIn("status", self.complaint(200, JSON, [], target="/nowhere"))
        self.assertIn("it has a body", self.complaint(204, {**OURS, "allow": "GET"}, b"x", "OPTIONS"))

    def test_an_answer_to_unclear_bytes_is_one_of_some_route(self):
        self.document.check_without_request(200, JSON, json.dumps([TOKEN]).encode())
        self.document.check_without_request(400, ERROR, json.dumps({"error": "a", "code": "bad_request"}).encode())
        for status, headers in ((299, JSON), (200, {**JSON, "x-more": "1"})):
            with self.subTest(status=status), self.assertRaises(api_document.Undocumented):
                self.document.check_without_request(status, headers, b"[]")
        api_document.Undocumented.found.clear()

    def test_what_a_workspace_answered_passes_only_where_that_is_expected(self):
        target = TOKENS.replace("tokens", "chat/uploads")
        teapot = (418, {**OURS, "content-type": "text/plain"}, b"short and stout", "POST", target)
        self.assertIn("undocumented", self.complaint(*teapot))
        self.assertIsNone(self.complaint(*teapot, forwarding=True))

    def test_an_event_that_is_not_documented_is_found(self):
        frame = {"event": "WORKSPACE_OFFLINE", "workspace_id": TOKEN["token_id"], "timestamp": TOKEN["created_at"], "payload": {}}
        self.document.check_event(frame)
        for wrong in ({**frame, "seq": 1}, {**frame, "event": "OTHER"}, {**frame, "payload": {"why": 1}}):
            with self.subTest(wrong=wrong), self.assertRaises(api_document.Undocumented):
                self.document.check_event(wrong)
        api_document.Undocumented.found.clear()


class Following(unittest.TestCase):
    """Which request an answer is for."""

    def asked(self, *pieces):
        conformance.begin(("test", 1), BINARY)
        self.addCleanup(conformance.end, ("test", 1))
        follower = conformance.follow(("test", 1))
        for piece in pieces:
            follower.sent(piece)
        return [" ".join(request) for request in follower._asked]

    def test_requests_are_told_apart(self):
        get, post = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n", b"POST /b HTTP/1.1\r\nContent-Length: 5\r\n\r\nGET /"
        chunks = b"POST /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;x\r\nGET /\r\n0\r\nT: x\r\n\r\n"
        wanted = ["GET /a", "POST /b", "POST /c", "GET /a"]
        stream = get + post + chunks + b"\r\n" + get
        self.assertEqual(self.asked(stream), wanted)
        self.assertEqual(self.asked(*(stream[i:i + 1] for i in range(len(stream)))), wanted)
        self.assertEqual(self.asked(get, b"nonsense\r\n\r\n", get), ["GET /a"])
        self.assertEqual(self.asked(get[:-1]), [])

    def test_an_undocumented_answer_fails_also_if_nobody_hears_of_it(self):
        self.asked()
        follower = conformance.follow(("test", 1))
        follower.sent(b"GET /version HTTP/1.1\r\n\r\n")
        with self.assertRaises(api_document.Undocumented):
            follower.answered(Answer(200, JSON, b'{"name":"restante","version":"1","more":1}'))
        with self.assertRaisesRegex(AssertionError, "undocumented member more"):
            conformance.assert_documented()
        conformance.assert_documented()


if __name__ == "__main__":
    unittest.main()
