#!/usr/bin/env python3
"""Backup and restore as docs/operations.md says: its commands are run, under load, into an empty database and directory, and what was
confirmed before the backup is served from there."""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import tempfile
import threading
import unittest

import forms
from http_wire import Wire, request_head
from server_process import BINARY, Server
from testbed import Database, upload

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent


def commands(which):
    """The block of the document that begins with this comment."""
    text = (SOURCE / "docs" / "operations.md").read_text()
    return re.search(rf"^```bash\n# {which}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[1]


class Backup(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="restante-backup-")))
        for name in ("backup", "content", "restored"):
            (self.folder / name).mkdir(mode=0o700)
        self.first, self.second = self.enterContext(Database()), self.enterContext(Database())

    def run_block(self, which):
        place = {"BACKUP": str(self.folder / "backup"), "CONTENT": str(self.folder / "content"),
                 "RESTORED_CONTENT": str(self.folder / "restored"), "DATABASE": self.first.conninfo, "RESTORED": self.second.conninfo,
                 "PATH": f"{pathlib.Path(BINARY).resolve().parent}:{os.environ['PATH']}"}
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands(which)], env={**os.environ, **place},
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def serve(self, db, content):
        return Server(db.conninfo, "--content-store", "directory", "--content-dir", str(self.folder / content))

    def ask(self, server, method, path, body=b"", headers=()):
        with Wire(server.address) as wire:
            wire.send(request_head(method, f"/workspaces/{self.workspace.id}{path}", [
                ("Host", "test"), ("Authorization", f"Bearer {self.workspace.token}"), ("Content-Length", str(len(body))),
                *headers]) + body)
            return wire.read_answer()

    def stage(self, server, content, workspace=None):
        answer = upload(server.address, workspace or self.workspace, forms.form(forms.part(content)), forms.PLAIN)
        self.assertEqual(answer.status, 200, answer)
        return answer.json()["files"][0]["file_id"]

    def rows(self, server, query=""):
        answer = self.ask(server, "GET", "/activity" + query)
        self.assertEqual(answer.status, 200, answer)
        return answer.json()

    def content(self, server, file):
        answer = self.ask(server, "GET", f"/pending-uploads/{file}/content")
        return answer.status, hashlib.sha256(answer.body).hexdigest()

    def ack(self, server, file):
        self.assertEqual(self.ask(server, "POST", f"/pending-uploads/{file}/ack").status, 200)

    def back_up_under_load(self, server):
        """Meanwhile somebody else's files keep coming; which of them are in it does not matter, only that it is whole."""
        other, stop = self.first.add_workspace(), threading.Event()

        def keep_uploading():
            while not stop.is_set():
                self.stage(server, b"y" * 3000, other)

        sender = threading.Thread(target=keep_uploading)
        sender.start()
        try:
            self.run_block("backup")
        finally:
            stop.set()
            sender.join(60)

    def test_what_was_confirmed_before_is_served_after(self):
        contents = [forms.noise(size, size) for size in (100, 70_000, 3_000_000)]
        digests = [(200, hashlib.sha256(content).hexdigest()) for content in contents]
        with self.serve(self.first, "content") as server:
            server.wait_ready()
            self.workspace = self.first.add_workspace()
            files = [self.stage(server, content) for content in contents]
            acked_before = self.stage(server, b"acked before")
            self.ack(server, acked_before)
            before = self.rows(server, "?since_seq=0")
            self.back_up_under_load(server)
            self.ack(server, files[0])
            lost = self.stage(server, b"after the backup")
            after = self.rows(server, "?since_seq=0")
        told = self.run_block("restore")
        self.assertIn("Waiting ", told)
        self.assertTrue(any(path.is_file() for path in (self.folder / "restored").rglob("*")), "bytes in the directory")
        with self.serve(self.second, "restored") as restored:
            restored.wait_ready()
            self.assertEqual([self.content(restored, file) for file in files], digests)
            waiting = [file["file_id"] for file in self.ask(restored, "GET", "/pending-uploads").json()]
            self.assertEqual(sorted(waiting), sorted(files), "acked after the backup: offered again; before: not")
            self.assertEqual(self.content(restored, lost)[0], 404)
            self.assertEqual(self.rows(restored, "?since_seq=0"), before)
            self.check_cursors(restored, before, after)

    def check_cursors(self, restored, before, after):
        """One from before the backup goes on; a newer one is 410, and stays that when new rows have taken its number."""
        self.assertEqual(self.rows(restored, f"?since_id={before[-1]['id']}"), [])
        newer = f"?since_id={after[-1]['id']}"
        self.assertEqual(self.rows(restored, f"?since_seq={before[-1]['seq']}"), [])
        for cursor in (newer, f"?since_seq={after[-1]['seq']}"):
            answer = self.ask(restored, "GET", "/activity" + cursor)
            self.assertEqual((answer.status, answer.json()["code"]), (410, "cursor_gone"), cursor)
        self.stage(restored, b"new")
        new = self.rows(restored, f"?since_id={before[-1]['id']}")
        self.assertEqual([row["seq"] for row in new], [after[-1]["seq"]])
        answer = self.ask(restored, "GET", "/activity" + newer)
        self.assertEqual((answer.status, json.loads(answer.body)["code"]), (410, "cursor_gone"))


if __name__ == "__main__":
    unittest.main()
