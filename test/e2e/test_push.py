#!/usr/bin/env python3
"""Uploads, messages and downloads of workspaces that can be called, against a real application: Starlette on
uvicorn, alone and behind nginx."""

import hashlib
import os
import pathlib
import subprocess
import tempfile
import unittest

from forms import CHROME, chunked, form, noise, part
from http_wire import Wire, await_true, request_head
from identity_case import call
from push_case import IngestApp, PushCase, Receiver, WorkspaceNginx
from server_process import BINARY, Server, run_command
from testbed import Cluster, Database

MIB = 1024 * 1024
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACEPARENT = f"00-{TRACE}-{SPAN}-01"


class Uploads(PushCase):
    flags = (*PushCase.flags, "--log-level", "debug")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.app = cls.enterClassContext(IngestApp())

    def setUp(self):
        self.workspace, self.secret = self.register(f"http://127.0.0.1:{self.app.port}/agent/")
        self.app.trust(self.secret)

    def assert_ingested(self, answer, *contents):
        self.assertEqual(answer.status, 200, answer)
        files = answer.json()["files"]
        self.assertEqual([(file["size"], file["sha256"]) for file in files],
                         [(len(content), hashlib.sha256(content).hexdigest()) for content in contents])
        for file in files:
            self.assertTrue(file["uri"].startswith("workspace:/workspace/.molecule/chat-uploads/"))

    def test_every_size_and_framing(self):
        before = self.db.counts()
        for size in (1, 70_000, MIB, 25 * MIB):
            content = noise(size, size)
            body = form(part(content, "a b.bin", "application/x-y"), boundary=CHROME)
            for length in (True, False):
                with self.subTest(size=size, length=length):
                    sent = body if length else chunked(body, (1, 7, 100_000, 65_536))
                    self.assert_ingested(self.send(self.workspace, sent, length), content)
        # Nothing of it is kept here.
        self.assertEqual(self.db.counts(), before)

    def test_several_requests_on_one_connection(self):
        with Wire(self.server.address) as wire:
            for turn in range(5):
                body = form(part(noise(1000, turn)), part(noise(2000, turn), "b"), boundary=CHROME)
                wire.send(self.head(self.workspace, len(body)) + body)
                self.assert_ingested(wire.read_answer(), noise(1000, turn), noise(2000, turn))

    def test_what_the_workspace_sees_and_what_it_does_not(self):
        body = form(part("x"), boundary=CHROME)
        self.send(self.workspace, body, headers=[
            ("X-Request-Id", "my-request-1"), ("traceparent", TRACEPARENT), ("Cookie", "a=b"), ("X-Other", "y"),
            ("Origin", "http://127.0.0.1"), ("Idempotency-Key", "k"), ("X-Forwarded-For", "1.2.3.4")])
        seen = self.app.calls()[-1]
        self.assertEqual((seen["method"], seen["path"]), ("POST", "/agent/internal/chat/uploads/ingest"))
        self.assertRegex(seen["headers"].pop("traceparent"), f"^00-{TRACE}-[0-9a-f]{{16}}-01$")
        self.assertEqual(seen["headers"], {
            "host": f"127.0.0.1:{self.app.port}", "authorization": f"Bearer {self.secret}",
            "content-type": f"multipart/form-data; boundary={CHROME}", "content-length": str(len(body)),
            "x-request-id": "my-request-1"})

    def test_a_trace_goes_on_in_the_log_and_in_the_workspace(self):
        body = form(part("x"), boundary=CHROME)
        for given, taken in ((TRACEPARENT, True), (TRACEPARENT.upper(), False), (TRACEPARENT[:-1], False), (None, False)):
            with self.subTest(given=given):
                since = self.server.log_size()
                self.send(self.workspace, body, headers=[("traceparent", given)] if given else [])
                sent = self.app.calls()[-1]["headers"]["traceparent"]
                version, trace, span, flags = sent.split("-")
                self.assertEqual((version, trace == TRACE, flags), ("00", taken, "01" if taken else "00"))
                self.assertNotEqual(span, SPAN)
                told = lambda: {line["event"]: line for line in self.server.log_lines(since)
                                if line.get("trace_id") == trace}
                await_true(lambda: set(told()) == {"upload_forwarded", "request"}, 30, "both lines of the request")
                lines = told()
                self.assertEqual(lines["request"]["span_id"], span)
                self.assertEqual(lines["request"].get("parent_span_id"), SPAN if taken else None)

    def test_two_traceparents_are_none(self):
        answer = self.send(self.workspace, b"", headers=[("traceparent", TRACEPARENT)] * 2)
        self.assertNotEqual(answer.headers.get("x-trace-id"), TRACE)
        self.assertFalse(TRACE in self.app.calls()[-1]["headers"]["traceparent"])

    def test_an_error_names_its_trace(self):
        with Wire(self.server.address) as wire:
            wire.send(request_head("GET", "/nowhere", [("Host", "test"), ("traceparent", TRACEPARENT)]))
            self.assertEqual(wire.read_answer().headers["x-trace-id"], TRACE)
            wire.send(request_head("GET", "/healthz", [("Host", "test"), ("traceparent", TRACEPARENT)]))
            self.assertNotIn("x-trace-id", wire.read_answer().headers)

    def test_expect_100(self):
        body = form(part("x"), boundary=CHROME)
        with Wire(self.server.address) as wire:
            wire.send(self.head(self.workspace, len(body), [("Expect", "100-continue")]))
            self.assertEqual(wire.read_answer().status, 100)
            wire.send(body)
            self.assert_ingested(wire.read_answer(), b"x")

    def test_the_answer_of_the_workspace_is_passed_on(self):
        nothing = self.send(self.workspace, form(part("x", name="other"), boundary=CHROME))
        self.assertEqual((nothing.status, nothing.json()), (400, {"error": "no files field in request"}))
        large = self.send(self.workspace, form(part(noise(25 * MIB + 1, 5)), boundary=CHROME))
        self.assertEqual((large.status, large.json()), (413, {"error": "file exceeds per-file cap"}))
        self.app.trust("another")
        refused = self.send(self.workspace, form(part("x"), boundary=CHROME))
        self.assertEqual((refused.status, refused.json()), (401, {"error": "unauthorized"}))
        self.assertEqual(refused.headers["content-type"], "application/json")
        self.assertNotIn("server", refused.headers)

    def test_logged_and_counted(self):
        since, before = self.server.log_size(), self.forwards("upload", "answered")
        body = form(part("x"), boundary=CHROME)
        self.send(self.workspace, body)
        (line,) = self.logged("upload_forwarded", since)
        self.assertEqual((line["workspace_id"], line["status"], line["size"]), (self.workspace.id, 200, len(body)))
        self.assertEqual(self.forwards("upload", "answered"), before + 1)

    def test_behind_nginx(self):
        """The workspace's own proxy, which keeps connections and refuses large bodies early."""
        with WorkspaceNginx(self.app.port) as front:
            workspace, secret = self.register(f"http://localhost:{front.port}/agent/")
            self.app.trust(secret)
            for turn in range(3):
                content = noise(3 * MIB, turn)
                body = form(part(content), boundary=CHROME)
                self.assert_ingested(self.send(workspace, body), content)
                self.assert_ingested(self.send(workspace, chunked(body, (50_000,)), length=False), content)
            refused = self.send(workspace, form(part(noise(20 * MIB, 9)), boundary=CHROME))
            self.assertEqual(refused.status, 413)
            self.assertIn(b"nginx", refused.body)

    def test_messages(self):
        for url, path in ((f"http://127.0.0.1:{self.app.port}/agent/", "/agent/"),):
            workspace, secret = self.register(url)
            self.app.trust(secret)
            message = {"jsonrpc": "2.0", "id": 7, "method": "message/send", "params": {"message": {"parts": []}}}
            answer = call(self.server, "POST", f"/workspaces/{workspace.id}/a2a", workspace.token, message)
            self.assertEqual((answer.status, answer.json()),
                             (200, {"jsonrpc": "2.0", "id": 7, "result": {"kind": "message"}}))
            seen = self.app.calls()[-1]
            self.assertEqual((seen["path"], seen["body"]), (path, message))
            self.assertEqual(self.db.session.value("SELECT count(*) FROM activity_logs"), "0")
            calls = len(self.app.calls())
            packed = call(self.server, "POST", f"/workspaces/{workspace.id}/a2a", workspace.token, message,
                          headers=[("Content-Encoding", "gzip")])
            self.assertEqual((packed.status, packed.json()["code"]), (415, "unsupported_media_type"))
            self.assertEqual(len(self.app.calls()), calls, "the workspace would not know that it is compressed")

    def download(self, path, method="GET"):
        with Wire(self.server.address, timeout=60) as wire:
            wire.send(request_head(method, f"/workspaces/{self.workspace.id}/chat/download?path={path}",
                                   [("Host", "test"), ("Authorization", f"Bearer {self.workspace.token}")]))
            return wire.read_answer(head_only=method == "HEAD")

    def test_downloads(self):
        folder = self.app.folder / "files" / "workspace" / "out"
        folder.mkdir(parents=True, exist_ok=True)
        for name, size in (("small.txt", 12), ("lärge file.bin", 5 * MIB), ("empty", 0)):
            content = noise(size, size)
            (folder / name).write_bytes(content)
            escaped = "/workspace/out/" + name.replace(" ", "%20").replace("ä", "%C3%A4")
            with self.subTest(name=name):
                answer = self.download(escaped)
                self.assertEqual((answer.status, answer.body), (200, content))
                self.assertEqual(answer.headers["content-length"], str(size))
                self.assertIn("attachment", answer.headers["content-disposition"])
                self.assertNotIn("etag", answer.headers)
                self.assert_harmless(answer)
                head = self.download(escaped, "HEAD")
                self.assertIn(head.status, (200, 405))
                self.assertEqual(self.app.calls()[-1]["asked"], "/workspace/out/" + name)
        self.assertEqual(self.download("/workspace/none").status, 404)
        for path in ("", "relative", "/etc/passwd", "/workspace/../etc/passwd", "/home//a"):
            self.assertEqual(self.download(path).status, 400, path)

    def assert_harmless(self, answer):
        """A browser that was led to it neither runs it as a page of this server nor keeps it."""
        self.assertEqual([answer.headers[name] for name in ("content-security-policy", "cross-origin-resource-policy",
                                                            "x-content-type-options", "cache-control")],
                         ["sandbox; default-src 'none'", "same-origin", "nosniff", "private, no-store"])

    def test_a_page_that_a_workspace_sends_is_not_one_of_this_server(self):
        with Receiver(lambda peer: (peer.read_request(), peer.answer(
                body=b"<script>", headers=[("Content-Security-Policy", "default-src *"), ("Set-Cookie", "a=b")]))) as other:
            self.workspace = self.workspace_at(other.port)
            answer = self.download("/workspace/page.html")
        self.assertEqual((answer.status, answer.body), (200, b"<script>"))
        self.assert_harmless(answer)
        self.assertNotIn("set-cookie", answer.headers)

    def test_a_poll_workspace_has_no_downloads(self):
        self.workspace = self.db.add_workspace("poll")
        answer = self.download("/workspace/a")
        self.assertEqual((answer.status, answer.json()["code"]), (422, "no_callback_url"))


class Modes(PushCase):
    def test_rows_from_before_the_modes_are_called_if_they_say_where(self):
        with IngestApp() as app:
            app.trust("something else")
            for mode in (None, "", "push"):
                workspace = self.db.add_workspace(mode, f"http://127.0.0.1:{app.port}/agent")
                body = form(part("x"), boundary=CHROME)
                # No secret yet: one is made, and the workspace has to learn it.
                answer = self.send(workspace, body)
                self.assertEqual((answer.status, answer.json()["code"]), (503, "workspace_reregistering"))
                self.assertEqual(answer.json()["error"], "workspace re-registering — please retry in 30 seconds")
                self.assertEqual(answer.json()["retry_after_seconds"], 30)
                self.assertEqual(self.send(workspace, body).status, 401)
                app.trust(self.secret_of(workspace))
                self.assertEqual(self.send(workspace, body).status, 200)
                app.trust("something else")

    def secret_of(self, workspace, *flags):
        code, out, err = run_command("workspace", "secret", workspace.id, *flags,
                                     "--database-url", self.db.conninfo)
        self.assertEqual(code, 0, err)
        return out.strip()

    def test_the_secret_is_stable_and_can_be_rotated(self):
        workspace, secret = self.register("http://127.0.0.1:1/")
        self.assertEqual(self.secret_of(workspace), secret)
        fresh = self.secret_of(workspace, "--rotate")
        self.assertRegex(fresh, r"\A[A-Za-z0-9_-]{43}\Z")
        self.assertNotEqual(fresh, secret)
        self.assertEqual(self.secret_of(workspace), fresh)
        again = call(self.server, "POST", "/registry/register", workspace.token,
                     {"id": workspace.id, "delivery_mode": "push", "url": "http://127.0.0.1:1/"})
        self.assertEqual(again.json()["platform_inbound_secret"], fresh)

    def test_poll_workspaces_are_as_before(self):
        workspace = self.db.add_workspace("poll", "http://127.0.0.1:1/")
        answer = self.send(workspace, form(part("x"), boundary=CHROME))
        self.assertEqual(answer.status, 200)
        self.assertTrue(answer.json()["files"][0]["uri"].startswith("platform-pending:"))

    def test_dev_implies_loopback_and_nothing_else(self):
        with Server(self.db.conninfo, "--dev") as server:
            server.wait_ready()
            self.register("http://127.0.0.1:1/", server)
            answer = call(server, "POST", "/registry/register", body={
                "id": "5ef2d5a9-07b8-4ad7-9a18-0f0b9d3f8d11", "delivery_mode": "push", "url": "http://10.0.0.1/"})
            self.assertEqual(answer.json()["code"], "callback_url_not_allowed")

    @unittest.skipIf(os.geteuid() != 0, "only root may give a server an /etc/hosts of its own")
    def test_a_name_that_moves_inside_between_two_calls_is_refused_at_the_second(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        hosts, starter = folder / "hosts", folder / "starter"
        starter.write_text(f"#!/bin/sh\nexec unshare -m sh -c 'mount --bind {hosts} /etc/hosts && exec {BINARY} \"$@\"'"
                           " sh \"$@\"\n")
        starter.chmod(0o755)

        def lead_to(address):
            hosts.write_text(f"127.0.0.1 localhost\n{address} moving.test\n")

        def script(peer):
            peer.read_request()
            peer.answer(headers=[("Connection", "close")])  # a kept connection would lead where it was judged to

        lead_to("127.0.0.1")
        with Receiver(script) as receiver, Server(self.db.conninfo, "--push-allow", "loopback", binary=starter) as server:
            server.wait_ready()
            workspace, _ = self.register(f"http://moving.test:{receiver.port}/", server)
            answers = []
            for address in ("127.0.0.1", "10.0.0.1", "169.254.169.254", "127.0.0.1"):
                lead_to(address)
                with Wire(server.address) as wire:
                    body = form(part("x"), boundary=CHROME)
                    wire.send(self.head(workspace, len(body)) + body)
                    answer = wire.read_answer()
                    answers.append((answer.status, answer.json().get("code")))
            refused = (400, "callback_url_not_allowed")
            self.assertEqual(answers, [(200, None), refused, refused, (200, None)])
            self.assertEqual(receiver.accepted, 2)

    def test_a_name_that_leads_inside_is_refused_when_it_is_used(self):
        """`localhost` under another name: what the system resolves is judged, not how it is written."""
        name = subprocess.run(["hostname"], capture_output=True, text=True, check=True).stdout.strip()
        with Server(self.db.conninfo) as server:
            server.wait_ready()
            workspace = self.db.add_workspace("push", f"http://{name}:1/")
            self.secret_of(workspace)
            with Wire(server.address) as wire:
                body = form(part("x"), boundary=CHROME)
                wire.send(self.head(workspace, len(body)) + body)
                answer = wire.read_answer()
            self.assertIn((answer.status, answer.json()["code"]),
                          [(400, "callback_url_not_allowed"), (502, "workspace_unreachable")])


class WithoutDatabase(PushCase):
    def test_a_forward_goes_on_when_the_database_is_gone(self):
        """Once the workspace was looked up, the body needs no database any more."""
        with Cluster() as cluster, Database(cluster.conninfo) as database, IngestApp() as app, \
                Server(database.conninfo, "--push-allow", "loopback") as server:
            server.wait_ready()
            workspace, secret = self.register(f"http://127.0.0.1:{app.port}/agent", server)
            app.trust(secret)
            content = noise(3 * MIB, 1)
            body = form(part(content), boundary=CHROME)
            with Wire(server.address) as wire:
                wire.send(self.head(workspace, len(body), [("Expect", "100-continue")]))
                self.assertEqual(wire.read_answer().status, 100)
                cluster.stop()
                wire.send(body)
                answer = wire.read_answer()
            self.assertEqual(answer.status, 200, answer)
            self.assertEqual(answer.json()["files"][0]["sha256"], hashlib.sha256(content).hexdigest())
            cluster.start()
            database.reconnect()


if __name__ == "__main__":
    unittest.main()
