"""Clients that others have written, from npm: both SDKs of A2A, ws and eventsource. package-lock.json pins them."""

import json
import os
import queue
import subprocess
import threading
import unittest

from messages_case import ADMIN, MessagesCase
from node_packages import FOLDER, install
from proxy import Proxy


class Node:
    """A script under node; what it prints are JSON objects, a line each."""

    def __init__(self, script, *arguments, **environment):
        self.process = subprocess.Popen(["node", script, *arguments], cwd=FOLDER, stdout=subprocess.PIPE,
                                        env={**os.environ, **environment}, text=True)
        self._lines = queue.Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self._reader.join()
        self.process.stdout.close()

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(json.loads(line))

    def next(self, within=30):
        return self._lines.get(timeout=within)

    def until(self, name):
        """Everything up to the event with this name."""
        seen = [self.next()]
        while seen[-1].get("event") != name:
            seen.append(self.next())
        return seen


class NodeCase(MessagesCase):
    servers = 2

    @classmethod
    def setUpClass(cls):
        install()
        super().setUpClass()

    def node(self, script, *arguments, **environment):
        return self.enterContext(Node(script, *arguments, **environment))

    def url(self, path, replica=None, scheme="http"):
        host, port = (replica or self.server).address
        return f"{scheme}://{host}:{port}{path}"


class Sdks(NodeCase):
    def send(self, version, how, token, message_id, file):
        script = self.node("send_a2a.mjs", version, how, URL=self.url(f"/workspaces/{self.workspace.id}/a2a"),
                           TOKEN=token, MESSAGE_ID=message_id, FILE_URI=file["uri"])
        return script.next()

    def test_messages_of_both_versions_arrive_and_name_their_files_alike(self):
        peer = self.db.add_workspace()
        file = self.stage(b"x")
        for version, state in (("03", "submitted"), ("10", 1)):
            got = self.send(version, "queue", peer.token, "from-" + version, file)["got"]
            self.assertEqual((got["id"], got["status"]["state"]), ("from-" + version, state))
        old, new = self.rows(include="&include=peer_info")[1:]
        self.assertEqual((old["method"], new["method"]), ("message/send", "SendMessage"))
        for row, words in ((old, "hello from 0.3"), (new, "hello from 1.0")):
            self.assertEqual(row["source_id"], peer.id)
            self.assertEqual(row["attachments"], [
                {"kind": "file", "uri": file["uri"], "mime_type": "text/plain", "name": "a.txt"}])
            self.assertEqual(row["request_body"]["params"]["message"]["parts"][0]["text"], words)
        self.assertNotIn("kind", new["request_body"]["params"]["message"]["parts"][0], "as it was sent")

    def test_without_help_the_sdk_does_not_know_the_answer_and_the_message_has_arrived_once(self):
        file = self.stage(b"x")
        for version, complaint in (("03", "ID mismatch"), ("10", "Invalid JSON-RPC response")):
            for _ in range(2):  # who takes it for a failure sends it again
                self.assertIn(complaint, self.send(version, "plain", ADMIN, "m-" + version, file)["error"])
        self.assertEqual(len(self.rows()), 3)


class Listeners(NodeCase):
    def test_ws_as_a_canvas_and_as_an_agent(self):
        canvas = self.node("listen_ws.mjs", URL=self.url("/ws", scheme="ws"), TOKEN=ADMIN)
        agent = self.node("listen_ws.mjs", URL=self.url("/ws", self.replicas[1], "ws"), TOKEN=self.workspace.token,
                          AS="agent", WORKSPACE=self.workspace.id, ORIGIN=self.url("", self.replicas[1]))
        self.assertEqual((canvas.next(), agent.next()), ({"open": "molecule-ws"}, {"open": ""}))
        self.post("/notify", {"message": "hello"}, replica=self.replicas[1])
        for client in (canvas, agent):
            self.assertEqual(client.until("AGENT_MESSAGE")[-1]["payload"]["message"], "hello")
            self.assertEqual(client.next()["payload"]["method"], "notify")
        wrong = self.node("listen_ws.mjs", URL=self.url("/ws", scheme="ws"), TOKEN="no such token")
        self.assertEqual(wrong.next(), {"refused": 401})

    def test_eventsource_resumes_where_its_connection_broke(self):
        with Proxy(self.server.address) as proxy:
            client = self.node("listen_stream.mjs", TOKEN=self.workspace.token,
                               URL=f"http://127.0.0.1:{proxy.port}/workspaces/{self.workspace.id}/events/stream")
            self.assertEqual(client.next(), {"open": True})
            rows, words = [], []
            for i in range(6):
                self.post("/notify", {"message": f"n{i}"}, replica=self.replicas[i % 2])
                if i % 2:
                    proxy.cut()
            while len(rows) < 6:
                event = client.next()
                if event.get("event") == "ACTIVITY_LOGGED":
                    rows.append((event["id"], event["payload"]["seq"]))
                elif event.get("event") == "AGENT_MESSAGE":
                    words.append(event["payload"]["message"])
            self.assertEqual(rows, [(str(seq), seq) for seq in range(1, 7)])
            self.assertEqual(list(dict.fromkeys(words)), [f"n{i}" for i in range(6)])


if __name__ == "__main__":
    unittest.main()
