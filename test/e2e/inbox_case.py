"""Base class of the inbox tests: one database and one server per class, and one-line requests."""

import json

from forms import PLAIN, form, part
from http_wire import Wire, request_head
from server_case import ServerCase
from testbed import upload


class InboxCase(ServerCase):
    def setUp(self):
        self.workspace = self.db.add_workspace()

    def head(self, method, path, workspace=None, headers=(), body=b""):
        owner = workspace or self.workspace
        fields = [("Host", "test"), ("Authorization", "Bearer " + owner.token), *headers]
        if body or method == "POST":
            fields.append(("Content-Length", str(len(body))))
        return request_head(method, f"/workspaces/{owner.id}{path}", fields) + body

    def call(self, method, path, workspace=None, headers=(), body=b""):
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
        with Wire(self.server.address, timeout=70) as wire:
            wire.send(self.head(method, path, workspace, headers, body))
            return wire.read_answer(head_only=method == "HEAD")

    def get(self, path, workspace=None, headers=()):
        return self.call("GET", path, workspace, headers)

    def post(self, path, body=b"", workspace=None):
        return self.call("POST", path, workspace, body=body)

    def stage(self, content, name="a.txt", mimetype="text/plain", workspace=None):
        """Uploads one file and returns its manifest."""
        answer = upload(self.server.address, workspace or self.workspace, form(part(content, name, mimetype)), PLAIN)
        self.assertEqual(answer.status, 200, answer)
        return answer.json()["files"][0]

    def content_path(self, file):
        return f"/pending-uploads/{file['file_id']}/content"

    def ack_path(self, file):
        return f"/pending-uploads/{file['file_id']}/ack"

    def seqs(self, path, workspace=None):
        answer = self.get(path, workspace)
        self.assertEqual(answer.status, 200, answer)
        return [row["seq"] for row in answer.json()]

    def parked(self):
        return self.server.metrics().get("molecule_parked_polls")
