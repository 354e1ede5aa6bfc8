"""Base class of the client's tests: a server, and a workspace with its home for each test."""

import json

import forms
from client_process import Home, digest_of
from http_wire import Wire, request_head
from server_case import ServerCase
from testbed import upload


class ClientCase(ServerCase):
    def setUp(self):
        self.workspace = self.db.add_workspace()
        self.home = self.enterContext(Home(self.url(), self.workspace))

    def url(self, address=None):
        host, port = address or self.server.address
        return f"http://{host}:{port}"

    def send_files(self, *contents, names=None, workspace=None):
        """Uploads these in one request; what the server says about each."""
        names = names or [f"file{number}.bin" for number in range(len(contents))]
        body = forms.form(*(forms.part(content, name) for content, name in zip(contents, names)))
        answer = upload(self.server.address, workspace or self.workspace, body, forms.PLAIN)
        self.assertEqual(answer.status, 200, answer)
        return answer.json()["files"]

    def call(self, method, path, body=None):
        with Wire(self.server.address) as wire:
            data = json.dumps(body).encode() if body is not None else b""
            wire.send(request_head(method, f"/workspaces/{self.workspace.id}{path}", [
                ("Host", "test"), ("Authorization", f"Bearer {self.workspace.token}"),
                ("Content-Type", "application/json"), ("Content-Length", str(len(data)))]) + data)
            return wire.read_answer()

    def send_message(self, *parts):
        body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": {"parts": list(parts)}}}
        self.assertEqual(self.call("POST", "/a2a", body).status, 200)

    def acked(self, workspace=None):
        """The ids of the files that were acked."""
        rows = self.db.session.query("SELECT file_id FROM pending_uploads WHERE acked_at IS NOT NULL AND "
                                     f"workspace_id = '{(workspace or self.workspace).id}'")
        return {row[0] for row in rows}

    def assert_delivered(self, home, *contents):
        """Exactly these are in the directory, each once."""
        self.assertEqual(sorted(home.files().values()), sorted(digest_of(content) for content in contents))
