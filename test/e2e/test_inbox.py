#!/usr/bin/env python3
"""The inbox over the wire: the feed and its filters, reports and messages, the list, acks and the stored
cursor, and the whole path of a file from the canvas to the workspace."""

import hashlib
import threading
import unittest
import uuid

from contract_client import Client
from forms import noise
from http_wire import Wire, await_true
from inbox_case import InboxCase

MIB = 1 << 20


class Walk(InboxCase):
    def test_register_upload_wake_fetch_resume_ack(self):
        with Client(self.server.address) as workspace, Client(self.server.address) as canvas:
            workspace.register()
            canvas.workspace, canvas.token = workspace.workspace, workspace.token
            self.assertEqual(workspace.poll(), [])

            rows = []
            poll = threading.Thread(target=lambda: rows.extend(workspace.poll(wait=30)))
            poll.start()
            await_true(lambda: self.parked() == 1, 10, "the poll is parked")
            content = noise(3 * MIB, 7)
            (file,) = canvas.upload([("big.bin", "application/x-thing", content)])
            poll.join(10)
            self.assertEqual([row["request_body"]["uri"] for row in rows], [file["uri"]])

            # The connection breaks in the middle of the body; the client keeps what arrived and requests the
            # rest.
            path = f"/workspaces/{workspace.workspace}/pending-uploads/{file['file_id']}/content"
            fields = f"Host: test\r\nAuthorization: Bearer {workspace.token}\r\n"
            with Wire(self.server.address) as wire:
                wire.send(f"GET {path} HTTP/1.1\r\n{fields}\r\n".encode())
                received = b""
                while len(received) < MIB:
                    received += wire.socket.recv(65536)
            head, _, begun = received.partition(b"\r\n\r\n")
            tag = next(line[6:] for line in head.decode().split("\r\n") if line.startswith("ETag: "))
            with Wire(self.server.address) as wire:
                wire.send(f"GET {path} HTTP/1.1\r\n{fields}Range: bytes={len(begun)}-\r\nIf-Range: {tag}\r\n\r\n".encode())
                rest = wire.read_answer()
            self.assertEqual(rest.status, 206)
            whole = begun + rest.body
            self.assertEqual(hashlib.sha256(whole).hexdigest(), file["sha256"])
            self.assertEqual(tag, f'"{file["sha256"]}"')
            self.assertEqual(whole, content)

            self.assertEqual(workspace.ack(file["uri"]), {"acked": True})
            self.assertEqual(workspace.ack(file["uri"]), {"acked": True})
            status, _, told = workspace.call("GET", f"/pending-uploads/{file['file_id']}/content")
            self.assertEqual(status, 404)
            self.assertIn(b"not found, expired, or already acked", told)
            self.assertEqual(workspace.call("GET", f"/pending-uploads/{file['file_id']}/content?recover=true")[2], content)

    def test_a_stranger_follows_the_feed_and_rebuilds_every_file(self):
        sizes = [1, 10, 4096, 65_536, 262_144, 262_145, 300_000, MIB, MIB + 1, 5 * MIB]
        sent = {}
        done = threading.Event()

        def write(number, workspace, token):
            with Client(self.server.address, workspace, token) as canvas:
                for i, size in enumerate(sizes):
                    files = [(f"w{number}-{i}-{k}.bin", "text/plain", noise(max(1, size >> k), (number, i, k).__hash__()))
                             for k in range(1 + i % 3)]
                    manifests = canvas.upload(files)
                    sent.update((name, content) for name, _, content in files)
                    canvas.say("look at these", [manifest["uri"] for manifest in manifests])

        with Client(self.server.address) as reader:
            reader.register()
            writers = [threading.Thread(target=write, args=(n, reader.workspace, reader.token)) for n in range(3)]
            for writer in writers:
                writer.start()

            def enough():
                if not any(writer.is_alive() for writer in writers):
                    done.set()
                return done.is_set()

            got = reader.collect(enough, limit=7)
            self.assertEqual(got.keys(), sent.keys())
            self.assertTrue(all(got[name] == content for name, content in sent.items()))
            self.assertEqual(reader.ask("GET", "/pending-uploads"), [])
        count, newest = self.db.session.query(
            f"SELECT count(*), max(seq) FROM activity_logs WHERE workspace_id = '{reader.workspace}'")[0]
        self.assertEqual(count, newest)


class Feed(InboxCase):
    def report(self, kind, **fields):
        answer = self.post("/activity", {"activity_type": kind, **fields})
        self.assertEqual((answer.status, answer.json()), (200, {"status": "logged"}))

    def test_a_row_has_the_keys_of_the_contract_and_bodies_come_back_word_for_word(self):
        body = b'{"activity_type":"a2a_send", "target_id":null,"method":"m","summary":"s \\"q\\"","status":"error",' \
               b'"error_detail":"d","duration_ms":12, "request_body": {"b":1.50,  "a":[1e40,"\\u0000"]},' \
               b'"response_body":"text","metadata":{"tool":1}}'
        self.assertEqual(self.post("/activity", body).status, 200)
        raw = self.get("/activity").body
        (row,) = self.get("/activity").json()
        self.assertEqual(list(row), ["id", "workspace_id", "activity_type", "source_id", "target_id", "method", "summary",
                                     "duration_ms", "status", "error_detail", "created_at", "seq", "request_body",
                                     "response_body", "tool_trace"])
        self.assertIn(b'"request_body":{"b":1.50,  "a":[1e40,"\\u0000"]}', raw)
        self.assertEqual((row["method"], row["summary"], row["duration_ms"], row["status"], row["error_detail"]),
                         ("m", 's "q"', 12, "error", "d"))
        self.assertEqual((row["source_id"], row["target_id"]), (self.workspace.id, None))
        self.assertEqual((row["response_body"], row["tool_trace"]), ("text", {"tool": 1}))
        self.assertRegex(row["created_at"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")

    def test_filters_cursors_and_limits(self):
        peer = str(uuid.uuid4())
        self.report("agent_log")
        self.report("a2a_send", target_id=peer, source_id=self.workspace.id)
        self.report("error", source_id=self.workspace.id)
        self.stage(b"x")
        ids = {row["seq"]: row["id"] for row in self.get("/activity").json()}
        for path, expected in {
                "": [4, 3, 2, 1], "?limit=2": [4, 3], "?limit=0": [4, 3, 2, 1], "?limit=abc": [4, 3, 2, 1],
                "?limit=-1&type=error": [3], "?limit=100000": [4, 3, 2, 1], "?type=agent_log": [1], "?type=none": [],
                "?source=canvas": [4], "?source=agent": [3, 2, 1], f"?peer_id={peer}": [2],
                f"?peer_id={peer.upper()}&source=canvas": [], "?since_seq=1": [2, 3, 4], "?since_seq=1&limit=2": [2, 3],
                f"?since_id={ids[2]}": [3, 4], f"?since_id={ids[4]}": [], f"?since_id={ids[1]}&type=a2a_receive": [4],
                "?since_secs=3600": [4, 3, 2, 1], "?since_secs=99999999": [4, 3, 2, 1],
                "?before_ts=2000-01-01T00:00:00Z": [], "?before_ts=2999-01-01T00:00:00Z&limit=1": [4],
                "?colour=blue": [4, 3, 2, 1]}.items():
            with self.subTest(path=path):
                self.assertEqual(self.seqs("/activity" + path), expected)

    def test_refusals_name_the_parameter(self):
        for name, values in {"since_secs": ("0", "-5", "x"), "before_ts": ("yesterday",), "source": ("x",),
                             "peer_id": ("x",), "wait": ("x",), "since_id": ("x",),
                             "since_seq": ("-1",)}.items():
            for value in values:
                with self.subTest(name=name, value=value):
                    answer = self.get(f"/activity?{name}={value}")
                    self.assertEqual(answer.status, 400)
                    self.assertIn(name, answer.json()["error"])

    def test_a_cursor_that_is_unknown_or_anothers_is_gone(self):
        self.report("agent_log")
        (row,) = self.get("/activity").json()
        other = self.db.add_workspace()
        for path, owner in ((f"?since_id={uuid.uuid4()}", self.workspace), (f"?since_id={row['id']}", other),
                            (f"?since_id={uuid.uuid4()}&wait=30", self.workspace)):
            answer = self.get("/activity" + path, owner)
            self.assertEqual(answer.status, 410)
            self.assertIn("omit since_id", answer.json()["error"])

    def test_a_number_below_what_retention_removed_is_gone(self):
        for _ in range(4):
            self.report("agent_log")
        self.db.session.query(f"DELETE FROM activity_logs WHERE workspace_id = '{self.workspace.id}' AND seq <= 2")
        for path in ("?since_seq=1", "?since_seq=1&wait=30", "?since_seq=1&type=error"):
            answer = self.get("/activity" + path)
            self.assertEqual((answer.status, answer.json()["code"]), (410, "cursor_gone"), answer)
            self.assertIn("since_seq=0", answer.json()["error"])
        self.assertEqual(self.get("/events/stream", headers=[("Last-Event-ID", "1")]).status, 410)
        self.assertEqual(self.seqs("/activity?since_seq=0"), [3, 4])
        self.assertEqual(self.seqs("/activity?since_seq=2"), [3, 4])
        self.assertEqual(self.seqs("/activity?since_seq=4"), [])

    def test_reports_are_checked(self):
        other = str(uuid.uuid4())
        before = self.db.counts()
        for body, status, word in (
                ({"activity_type": "nonsense"}, 400, "skill_promotion"), ({}, 400, "activity_type"), ([], 400, "object"),
                ({"activity_type": "error", "source_id": other}, 403, "source_id"),
                ({"activity_type": "error", "target_id": "x"}, 400, "target_id"),
                ({"activity_type": "error", "summary": 7}, 400, "summary"),
                ({"activity_type": "error", "summary": "a\0b"}, 400, "summary"),
                ({"activity_type": "error", "duration_ms": "7"}, 400, "duration_ms"),
                (b"{", 400, "JSON"), (b"[" * 100, 400, "JSON"), (b'{"a":1,"a":2}', 400, "JSON"), (b"\xef\xbb\xbf{}", 400, "JSON"),
                (b'{"activity_type":"error","summary":"\xff"}', 400, "JSON"), (b" " * (2 * MIB), 413, "")):
            answer = self.post("/activity", body)
            self.assertEqual(answer.status, status, (str(body)[:80], answer))
            self.assertIn(word, answer.json()["error"])
        self.assertEqual(self.db.counts(), before)
        self.report("error", summary="'; DROP TABLE activity_logs; --")
        self.assertEqual(self.get("/activity").json()[0]["summary"], "'; DROP TABLE activity_logs; --")

    def test_a_message_follows_its_files_into_the_same_inbox(self):
        file = self.stage(b"x", "pic.png", "image/png")
        message = {"jsonrpc": "2.0", "method": "message/send", "params": {"message": {"parts": [
            {"kind": "text", "text": "hi"}, {"kind": "image", "file": {"uri": file["uri"], "name": "pic.png"}}]}}}
        answer = self.post("/a2a", message)
        self.assertEqual((answer.status, answer.json()),
                         (200, {"status": "queued", "delivery_mode": "poll", "method": "message/send"}))
        upload, said = self.get("/activity?since_seq=0&include=peer_info").json()
        self.assertEqual(said["request_body"]["params"]["message"]["parts"], message["params"]["message"]["parts"])
        self.assertEqual((said["activity_type"], said["method"], said["source_id"], said["target_id"]),
                         ("a2a_receive", "message/send", None, self.workspace.id))
        self.assertEqual(upload["attachments"],
                         [{"kind": "image", "uri": file["uri"], "mime_type": "image/png", "name": "pic.png"}])
        self.assertEqual(said["attachments"], [{"kind": "image", "uri": file["uri"], "name": "pic.png"}])
        self.assertNotIn("peer_name", said)
        for body in ({"jsonrpc": "2.0"}, {"method": 7}, [], "text"):
            self.assertEqual(self.post("/a2a", body if body != "text" else b'"text"').status, 400)
        push = self.db.add_workspace("push", "http://127.0.0.1:1/")
        self.assertEqual(self.post("/a2a", message, push).json()["code"], "callback_url_not_allowed")
        self.assertEqual(self.post("/a2a", message, self.db.add_workspace(None)).status, 422)

    def test_peer_info_tells_who_it_was(self):
        peer = self.db.add_workspace()
        self.db.session.query(f"UPDATE workspaces SET name = 'Ada', role = 'engineer' WHERE id = '{peer.id}'")
        self.report("a2a_send", source_id=self.workspace.id, target_id=peer.id)
        (row,) = self.get("/activity?include=peer_info").json()
        self.assertEqual((row["peer_name"], row["peer_role"]), ("Ada", "engineer"))
        self.assertNotIn("peer_name", self.get("/activity").json()[0])

    def test_the_kept_cursor_only_goes_forward(self):
        for _ in range(3):
            self.report("agent_log")
        self.assertEqual(self.get("/activity/ack").json(), {"last_acked_seq": 0})
        for seq, expected in ((2, 2), (1, 2), (99, 3)):
            self.assertEqual(self.post("/activity/ack", {"acked_seq": seq}).json(), {"last_acked_seq": expected})
        self.assertEqual(self.get("/activity/ack").json(), {"last_acked_seq": 3})
        for body in ({}, {"acked_seq": -1}, {"acked_seq": "2"}, {"acked_seq": 1.5}, []):
            self.assertEqual(self.post("/activity/ack", body).status, 400)


class ListAndAck(InboxCase):
    def test_the_list_is_what_waits_oldest_first(self):
        files = [self.stage(noise(n + 1, n), f"{n}.txt") for n in range(5)]
        self.assertEqual(self.post(self.ack_path(files[1])).json(), {"acked": True})
        self.db.session.query(f"UPDATE pending_uploads SET expires_at = now() WHERE file_id = '{files[3]['file_id']}'")
        listed = self.get("/pending-uploads").json()
        self.assertEqual([file["name"] for file in listed], ["0.txt", "2.txt", "4.txt"])
        self.assertEqual(list(listed[0]), ["file_id", "uri", "name", "mimeType", "size", "sha256", "created_at",
                                           "fetched_at", "expires_at"])
        self.assertEqual({key: listed[0][key] for key in ("file_id", "uri", "name", "mimeType", "size", "sha256")},
                         {key: files[0][key] for key in ("file_id", "uri", "name", "mimeType", "size", "sha256")})
        self.assertEqual(self.get("/pending-uploads?limit=1").json(), listed[:1])
        self.assertEqual(self.get(f"/pending-uploads?after={files[0]['file_id']}").json(), listed[1:])
        self.assertEqual(self.get(f"/pending-uploads?after={files[1]['file_id']}&limit=1").json(), listed[1:2])
        self.assertEqual(self.get("/pending-uploads?after=x").status, 400)

    def test_acks_stand_and_what_is_not_ours_is_not_found(self):
        file = self.stage(b"mine")
        other = self.db.add_workspace()
        answers = [self.post(self.ack_path(file), workspace=other), self.post(f"/pending-uploads/{uuid.uuid4()}/ack")]
        self.assertEqual([answer.status for answer in answers], [404, 404])
        self.assertEqual(answers[0].body, answers[1].body)
        self.assertEqual(self.post("/pending-uploads/xyz/ack").json()["error"], "invalid file_id")
        self.assertEqual(self.post(self.ack_path(file)).json(), {"acked": True})
        first = self.acked_at(file)
        self.assertEqual(self.post(self.ack_path(file), b"{}").json(), {"acked": True})
        self.assertEqual(self.acked_at(file), first)
        late = self.stage(b"late")
        self.db.session.query(f"UPDATE pending_uploads SET expires_at = now() WHERE file_id = '{late['file_id']}'")
        self.assertEqual(self.post(self.ack_path(late)).status, 404)
        lines = [line for line in self.server.log_lines() if line["event"] == "upload_acked"]
        self.assertEqual([line["file_id"] for line in lines if line["workspace_id"] == self.workspace.id], [file["file_id"]])

    def acked_at(self, file):
        return self.db.session.value(f"SELECT acked_at FROM pending_uploads WHERE file_id = '{file['file_id']}'")

    def test_many_at_once(self):
        files = [self.stage(bytes([n]))["file_id"] for n in range(3)]
        foreign = self.stage(b"x", workspace=self.db.add_workspace())["file_id"]
        unknown = str(uuid.uuid4())
        answer = self.post("/pending-uploads/ack", {"file_ids": [files[2], foreign, files[0], unknown, files[2]]})
        self.assertEqual(answer.json(), {"acked": [files[2], files[0]], "not_found": [foreign, unknown]})
        self.assertEqual([file["file_id"] for file in self.get("/pending-uploads").json()], [files[1]])
        self.assertEqual(self.post("/pending-uploads/ack", {"file_ids": []}).json(), {"acked": [], "not_found": []})
        for ids in ([unknown] * 501, ["x"], [7], "x", None):
            self.assertEqual(self.post("/pending-uploads/ack", {"file_ids": ids}).status, 400)

    def test_double_acks_from_four_clients(self):
        files = [self.stage(bytes([n])) for n in range(25)]
        told = []

        def ack_all():
            with Client(self.server.address, self.workspace.id, self.workspace.token) as client:
                told.extend(client.ack(file["uri"]) for file in files for _ in range(2))

        clients = [threading.Thread(target=ack_all) for _ in range(4)]
        for client in clients:
            client.start()
        stamps = {}
        while any(client.is_alive() for client in clients):
            for file, at in self.db.session.query("SELECT file_id, acked_at FROM pending_uploads WHERE acked_at IS NOT NULL"):
                self.assertEqual(stamps.setdefault(file, at), at, "acked_at moved")
        for client in clients:
            client.join()
        self.assertEqual(told, [{"acked": True}] * 200)


if __name__ == "__main__":
    unittest.main()
