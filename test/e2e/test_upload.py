#!/usr/bin/env python3
"""POST /workspaces/{id}/chat/uploads as curl and browsers send it: the response matches what is in the
database."""

import hashlib
import itertools
import json
import pathlib
import subprocess
import tempfile
import time
import unittest

from forms import CHROME, FIREFOX, PLAIN, chunked, form, noise, part
from http_wire import Wire, request_head
from server_process import Server, run_command
from testbed import Database, upload, upload_head
from upload_case import UploadCase

KIB, MIB = 1024, 1024 * 1024


class Bodies(UploadCase):
    def test_sizes_around_every_threshold(self):
        for size in (1, 64 * KIB, 256 * KIB - 1, 256 * KIB, 256 * KIB + 1, MIB - 1, MIB, MIB + 1, 25 * MIB):
            with self.subTest(size=size):
                workspace, content = self.db.add_workspace(), noise(size, size)
                body = form(part(content, f"{size} bytes.bin"), boundary=CHROME)
                self.assert_stored(self.send(body, CHROME, workspace), [content], workspace)
        self.assert_quiet()

    def test_64_files_are_one_batch_in_order(self):
        workspace = self.db.add_workspace()
        contents = [noise(1 + 997 * i, i) for i in range(64)]
        parts = [part(content, f"f{i:02}.bin", "application/x-thing") for i, content in enumerate(contents)]
        told = self.assert_stored(self.send(form(*parts), workspace=workspace), contents, workspace)
        self.assertEqual([file["name"] for file in told], [f"f{i:02}.bin" for i in range(64)])
        rows = self.db.session.query(
            "SELECT seq, activity_type, method, target_id, source_id, status, summary, request_body "
            f"FROM activity_logs WHERE workspace_id = '{workspace.id}' ORDER BY seq")
        self.assertEqual([int(row[0]) for row in rows], list(range(1, 65)))
        for file, row in zip(told, rows):
            self.assertEqual(row[1:7], ("a2a_receive", "chat_upload_receive", workspace.id, None, "ok",
                                        "chat_upload_receive: " + file["name"]))
            told_again = {key: value for key, value in file.items() if key != "expires_at"}
            self.assertEqual(json.loads(row[7]), told_again)

    def test_small_and_large_files_in_one_form(self):
        workspace = self.db.add_workspace()
        contents = [noise(size, size) for size in (3, 700 * KIB, 256 * KIB, 10 * MIB, 1)]
        body = form(*(part(content, f"{len(content)}") for content in contents), boundary=FIREFOX)
        self.assert_stored(self.send(body, FIREFOX, workspace), contents, workspace)

    def test_a_browser_form_with_other_fields(self):
        workspace = self.db.add_workspace()
        parts = [part("hello", None, None, "message"), part(b"", "", "application/octet-stream"),
                 part(b"\x89PNG", "grüße 世界.png", "image/png"), part("x", "later.txt", None, "other")]
        body = form(*parts, boundary=CHROME)
        (file,) = self.assert_stored(self.send(body, CHROME, workspace), [b"\x89PNG"], workspace)
        self.assertEqual((file["name"], file["mimeType"]), ("gr__e___.png", "image/png"))
        self.assertEqual(file["original_name"], "grüße 世界.png")

    def test_chunked_in_odd_pieces(self):
        workspace, content = self.db.add_workspace(), noise(3 * MIB, 7)
        body = form(part(content, "c.bin"))
        with Wire(self.server.address) as wire:
            wire.send(upload_head(workspace, PLAIN))
            wire.send(chunked(body, (1, 2, 3, 5, 65536, 1000, 17)))
            self.assert_stored(wire.read_answer(), [content], workspace)

    def test_100_continue_comes_before_the_body_and_only_once(self):
        workspace, content = self.db.add_workspace(), noise(2 * MIB, 8)
        body = form(part(content, "e.bin"))
        with Wire(self.server.address) as wire:
            wire.send(upload_head(workspace, PLAIN, len(body), [("Expect", "100-continue")]))
            self.assertEqual(wire.read_answer().status, 100)
            wire.send(body)
            self.assert_stored(wire.read_answer(), [content], workspace)
            # The connection stays usable.
            wire.send(upload_head(self.workspace, PLAIN, len(form(part("x")))) + form(part("x")))
            self.assertEqual(wire.read_answer().status, 200)

    def test_refused_expectations_get_the_answer_and_no_100(self):
        expect = [("Expect", "100-continue")]
        push = self.db.add_workspace("push", "http://127.0.0.1:1")
        good = upload_head(self.workspace, PLAIN, 100, expect)
        for status, head in ((413, upload_head(self.workspace, PLAIN, 60 * MIB, expect)),
                             (400, upload_head(push, PLAIN, 100, expect)),
                             (415, good.replace(b"form-data", b"mixed"))):
            with self.subTest(status=status), Wire(self.server.address) as wire:
                wire.send(head)
                self.assertEqual(wire.read_answer().status, status)
                self.assertTrue(wire.is_closed())

    def test_cut_in_two_at_every_byte(self):
        """Two segments with a pause between them, split at every byte of a form: always the same two
        files."""
        body = form(part("\r\n--c", "a.txt"), part("-bb-", "b"), boundary="bb")
        workspace = self.db.add_workspace()
        head = upload_head(workspace, "bb", len(body))
        with Wire(self.server.address) as wire:
            for cut in range(len(body) + 1):
                wire.send(head + body[:cut])
                time.sleep(0.001)
                wire.send(body[cut:])
                answer = wire.read_answer()
                sizes = [file["size"] for file in answer.json().get("files", [])]
                self.assertEqual(sizes, [5, 4], (cut, answer))
        stored = self.db.session.query("SELECT encode(sha256(content), 'hex'), count(*) FROM pending_uploads "
                                       f"WHERE workspace_id = '{workspace.id}' GROUP BY 1")
        digests = (hashlib.sha256(content).hexdigest() for content in (b"\r\n--c", b"-bb-"))
        self.assertEqual(dict(stored), {digest: str(len(body) + 1) for digest in digests})


class Curl(UploadCase):
    def curl(self, workspace, *words):
        url = "http://{}:{}{}".format(*self.server.address, workspace.uploads)
        bearer = f"Authorization: Bearer {workspace.token}"
        command = ["curl", "-sS", "--max-time", "60", "-H", bearer, *words, url]
        done = subprocess.run(command, capture_output=True, timeout=70)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_files_of_every_size_and_names_in_utf8(self):
        with tempfile.TemporaryDirectory() as folder:
            for size, name, stored in ((1, "eins.txt", "eins.txt"),
                                       (256 * KIB, "zwei drei.bin", "zwei_drei.bin"),
                                       (256 * KIB + 1, "фото.jpg", "____.jpg"),
                                       (25 * MIB, "a;b=c.bin", "a_b_c.bin")):
                with self.subTest(size=size):
                    path, workspace = pathlib.Path(folder, name), self.db.add_workspace()
                    content = noise(size, size)
                    path.write_bytes(content)
                    (told,) = self.curl(workspace, "-F", f'files=@"{path}";type=image/x-test')["files"]
                    self.assertEqual((told["name"], told["original_name"], told["mimeType"], told["size"]),
                                     (stored, name, "image/x-test", size))
                    (row,) = self.db.files(workspace)
                    self.assertEqual(row[4], hashlib.sha256(content).hexdigest())

    def test_chunked_and_many_files(self):
        with tempfile.TemporaryDirectory() as folder:
            words, workspace = [], self.db.add_workspace()
            for i in range(20):
                path = pathlib.Path(folder, f"{i}.bin")
                path.write_bytes(noise(i * 5000 + 1, i))
                words += ["-F", f"files=@{path}"]
            told = self.curl(workspace, "-H", "Transfer-Encoding: chunked", *words)["files"]
            self.assertEqual([file["name"] for file in told], [f"{i}.bin" for i in range(20)])
            self.assertEqual([row[4] for row in self.db.files(workspace)],
                             [hashlib.sha256(noise(i * 5000 + 1, i)).hexdigest() for i in range(20)])


class Workspaces(UploadCase):
    def test_every_mode_gets_its_answer(self):
        expected = [
            (self.db.add_workspace("push", "http://127.0.0.1:1/x"), 400, "callback_url_not_allowed", None),
            (self.db.add_workspace("push"), 503, "callback_url_missing", "workspace url not registered yet"),
            (self.db.add_workspace(None), 422, "no_callback_url", "workspace has no callback URL"),
            (self.db.add_workspace(""), 422, "no_callback_url", "workspace has no callback URL"),
            (self.db.add_workspace(None, "http://127.0.0.1:1/x"), 400, "callback_url_not_allowed", None),
            (self.db.add_workspace("", "http://127.0.0.1:1/x"), 400, "callback_url_not_allowed", None),
        ]
        before = self.db.counts()
        for workspace, status, code, text in expected:
            answer = self.send(form(part("x")), workspace=workspace)
            self.assertEqual((answer.status, answer.json()["code"]), (status, code))
            if text:
                self.assertEqual(answer.json()["error"], text)
        self.assertEqual(self.db.counts(), before)

    def test_unknown_and_removed_workspaces(self):
        """Only the admin gets a 404; a workspace's own token gives no access to others and is revoked with
        it."""
        with tempfile.NamedTemporaryFile("w") as token, Database() as db:
            token.write("admin-token-of-this-test-0123456789abcdef")
            token.flush()
            with Server(db.conninfo, "--admin-token-file", token.name) as server:
                server.wait_ready()
                gone, unknown = db.add_workspace(), db.add_workspace()
                db.session.query(
                    f"UPDATE workspaces SET removed_at = now(), status = 'removed' WHERE id = '{gone.id}';"
                    f"DELETE FROM workspace_auth_tokens WHERE workspace_id = '{unknown.id}';"
                    f"DELETE FROM workspaces WHERE id = '{unknown.id}'")
                gone.token = unknown.token = "admin-token-of-this-test-0123456789abcdef"
                for workspace in (gone, unknown):
                    answer = upload(server.address, workspace, form(part("x")), PLAIN)
                    self.assertEqual((answer.status, answer.json()["error"]), (404, "workspace not found"))

    def test_starts_working_once_the_migration_lands(self):
        with Database() as db:
            flags = ("--database-url", db.conninfo)
            self.assertEqual(run_command("migrate", "--to", "2", *flags)[0], 0)
            workspace = db.add_workspace()
            with Server(db.conninfo, "--no-migrate") as server:
                answer = upload(server.address, workspace, form(part("x")), PLAIN)
                self.assertEqual(answer.status, 422, answer)
                self.assertEqual(answer.json()["error"], "workspace has no callback URL")
                self.assertEqual(server.get("/readyz").status, 503)
                self.assertEqual(run_command("migrate", *flags)[0], 0)
                # What the server knows of the workspace may be cached for 5 s.
                for attempt in itertools.count():
                    answer = upload(server.address, workspace, form(part("x")), PLAIN)
                    if answer.status == 200 or attempt == 80:
                        break
                    time.sleep(0.1)
                self.assertEqual(answer.status, 200, answer)
                self.assertEqual(len(db.files(workspace)), 1)
                server.wait_ready(within=5)

    def test_order_of_checks(self):
        """id → auth → Content-Type → Content-Length → workspace: of two faults the earlier one is
        reported."""
        def answer(target, token, content_type, length):
            headers = [("Host", "test"), ("Content-Type", content_type), ("Content-Length", str(length))]
            if token:
                headers.append(("Authorization", f"Bearer {token}"))
            with Wire(self.server.address) as wire:
                wire.send(request_head("POST", target, headers))
                return wire.read_answer().status

        push, token = self.db.add_workspace("push", "http://127.0.0.1:1"), "A" * 43
        multipart = "multipart/form-data; boundary=b"
        self.assertEqual(answer("/workspaces/x/chat/uploads", None, "text/plain", 99 * MIB), 400)
        self.assertEqual(answer(push.uploads, token, "text/plain", 99 * MIB), 401)
        self.assertEqual(answer(push.uploads, push.token, "text/plain", 99 * MIB), 415)
        self.assertEqual(answer(push.uploads, push.token, multipart, 99 * MIB), 413)
        self.assertEqual(answer(push.uploads, push.token, multipart, 99), 400)


if __name__ == "__main__":
    unittest.main()
