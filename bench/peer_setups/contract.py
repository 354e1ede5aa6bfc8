"""Servers with Restante's contract: Restante itself, the peer in Go, and the one in Node."""

import json
import os
import uuid

from .peer import FILES_TO_FETCH, WORKSPACES, Load, Peer, as_line

BOUNDARY = "----restante-peers"


def form(content, name="file.bin"):
    head = (f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n")
    return head.encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()


class ContractPeer(Peer):
    protocol = "multipart POST, GET with Bearer token"

    def register(self):
        """A new workspace: its path and the header with its token."""
        workspace = str(uuid.uuid4())
        body = json.dumps({"id": workspace, "agent_card": {"name": "bench"}, "delivery_mode": "poll"})
        _, answer = self.expect(200, "POST", "/registry/register", body, {"Content-Type": "application/json"})
        return f"/workspaces/{workspace}", "Authorization: Bearer " + json.loads(answer)["auth_token"]

    def register_all(self):
        self.workspaces = [self.register() for _ in range(WORKSPACES)]

    def uploads(self, size, count):
        lines = [as_line("POST", path + "/chat/uploads", token) for path, token in self.workspaces]
        return Load(self.port, lines, "form")

    def _stage(self, path, token, size):
        name, value = token.split(": ")
        headers = {name: value, "Content-Type": "multipart/form-data; boundary=" + BOUNDARY}
        _, answer = self.expect(200, "POST", path + "/chat/uploads", form(os.urandom(size)), headers)
        return json.loads(answer)["files"][0]["uri"].split("/")[-1]

    def fetches(self, size):
        lines = []
        for i in range(FILES_TO_FETCH):
            path, token = self.workspaces[i % WORKSPACES]
            file_id = self._stage(path, token, size)
            lines.append(as_line("GET", f"{path}/pending-uploads/{file_id}/content", token))
        return Load(self.port, lines)


class ParkedPolls:
    """Workspaces that wait in a long poll, each for its own feed. Items are small uploads."""

    seconds_to_park = 2  # for all of them, before the first item

    def __init__(self, peer, count):
        self.port = self.publish_port = peer.port
        self._workspaces = [peer.register() for _ in range(count)]

    def park(self, index, told):
        """The next poll, after the answer to the last one."""
        path, token = self._workspaces[index]
        since = json.loads(told.body)[-1]["seq"] if told else 0
        return (f"GET {path}/activity?since_seq={since}&wait=55 HTTP/1.1\r\nHost: 127.0.0.1\r\n{token}\r\n"
                "\r\n").encode()

    def publish(self, index, item):
        path, token = self._workspaces[index]
        body = form(os.urandom(300), item)
        return (f"POST {path}/chat/uploads HTTP/1.1\r\nHost: 127.0.0.1\r\n{token}\r\n"
                f"Content-Type: multipart/form-data; boundary={BOUNDARY}\r\n"
                f"Content-Length: {len(body)}\r\n\r\n").encode() + body
