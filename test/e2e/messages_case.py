"""Base class of the message tests: clients written from what existing canvases and agents send, several servers."""

import json
import uuid

from events_case import ADMIN, EventsCase
from forms import PLAIN, form, part
from http_wire import Wire, request_head
from testbed import upload


class MessagesCase(EventsCase):
    flags = ("--peers", "open")

    @property
    def server(self):
        return self.replicas[0]

    def call(self, method, path, token, body=b"", headers=(), replica=None):
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
        fields = [("Host", "test"), *headers]
        if token:
            fields.append(("Authorization", f"Bearer {token}"))
        if body or method == "POST":
            fields += [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        with Wire((replica or self.server).address, timeout=70) as wire:
            wire.send_what_is_taken([request_head(method, path, fields), body])
            return wire.read_answer()

    def post(self, path, body, token=None, workspace=None, **how):
        """By the token of the workspace, unless told otherwise."""
        to = workspace or self.workspace
        return self.call("POST", f"/workspaces/{to.id}{path}", token or to.token, body, **how)

    def get(self, path, token=None, workspace=None, **how):
        of = workspace or self.workspace
        return self.call("GET", f"/workspaces/{of.id}{path}", token or of.token, **how)

    def rows(self, workspace=None, include=""):
        answer = self.get(f"/activity?since_seq=0{include}", workspace=workspace)
        self.assertEqual(answer.status, 200, answer)
        return answer.json()

    def stage(self, content, name="a.txt", mimetype="text/plain", workspace=None, replica=None):
        answer = upload((replica or self.server).address, workspace or self.workspace,
                        form(part(content, name, mimetype)), PLAIN)
        self.assertEqual(answer.status, 200, answer)
        return answer.json()["files"][0]


def message(*parts, method="message/send", **fields):
    """As A2A 0.3 has it."""
    said = {"messageId": str(uuid.uuid4()), "role": "user", "parts": list(parts), **fields}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": said}}


def text(words):
    return {"kind": "text", "text": words}


__all__ = ["ADMIN", "MessagesCase", "message", "text"]
