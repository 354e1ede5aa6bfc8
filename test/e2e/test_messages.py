"""Messages between people and agents: who may send them, what is stored of them, what the other side gets."""

import threading
import unittest
import uuid

from http_wire import await_true
from messages_case import ADMIN, MessagesCase, message, text
from testbed import Workspace
from websocket_client import WebSocket

MIB = 1 << 20


class Walk(MessagesCase):
    """A canvas on one server, an agent on the other."""

    servers = 2

    def test_an_agent_from_its_registration_to_its_removal(self):
        canvas, agent = self.replicas
        self.workspace = self.register_agent(agent)
        canvas_token = ADMIN.encode().hex().upper()
        socket = self.enterContext(WebSocket(canvas.address, headers=[
            ("Sec-WebSocket-Protocol", f"molecule-auth.{canvas_token}, molecule-ws")]))
        self.assertEqual((socket.answer.status, socket.answer.headers["sec-websocket-protocol"]), (101, "molecule-ws"))
        stream = self.stream(canvas)
        agent_socket = self.websocket(agent, headers=[("X-Workspace-ID", self.workspace.id),
                                                      ("Origin", "http://test")])

        file = self.stage(b"question", "q.txt", replica=canvas)
        said = {"method": "message/send", "params": {"message": {
            "role": "user", "messageId": "m-1", "parts": [
                text("read this"), {"kind": "file", "file": {"uri": file["uri"], "name": "q.txt", "size": 8}}]}}}
        answer = self.post("/a2a", said, token=ADMIN, replica=canvas)
        self.assertEqual((answer.status, answer.json()),
                         (200, {"status": "queued", "delivery_mode": "poll", "method": "message/send"}))

        rows = self.get("/activity?since_seq=0&wait=20&include=peer_info", replica=agent).json()
        while len(rows) < 2:
            rows += self.get(f"/activity?since_id={rows[-1]['id']}&wait=20&include=peer_info", replica=agent).json()
        uploaded, told = rows
        self.assertEqual(uploaded["request_body"]["uri"], file["uri"])
        self.assertEqual(told["attachments"], [{"kind": "file", "uri": file["uri"], "name": "q.txt"}])
        self.assertIsNone(told["duration_ms"], "a number would mean that the agent has replied")
        got = self.get(f"/pending-uploads/{file['file_id']}/content", replica=agent)
        self.assertEqual(got.body, b"question")

        reply = self.stage(b"answer", "a.txt", replica=agent)
        sent = self.post("/notify", {"message": "here\nit is", "attachments": [reply]}, replica=agent)
        self.assertEqual((sent.status, sent.json()), (200, {"status": "sent"}))

        for source in (socket, stream, agent_socket):
            events = self.events_until(source, "AGENT_MESSAGE", len(rows) + 2)
            names = [event["event"] for event in events]
            self.assertEqual(names.count("AGENT_MESSAGE"), 1, names)
            self.assertEqual(names.count("USER_MESSAGE"), 1, names)
            self.assertEqual([event["payload"]["seq"] for event in events if event["event"] == "ACTIVITY_LOGGED"],
                             [1, 2, 3, 4])
            heard = events[names.index("USER_MESSAGE")]["payload"]
            self.assertEqual(heard, {"workspace_id": self.workspace.id, "message_id": "m-1", "role": "user",
                                     "content": "read this", "attachments": [
                                         {"uri": file["uri"], "name": "q.txt", "size": 8}]})
            answered = events[names.index("AGENT_MESSAGE")]
            self.assertEqual(answered["workspace_id"], self.workspace.id)
            self.assertEqual(answered["payload"]["message"], "here\nit is")
            (shown,) = answered["payload"]["attachments"]
            self.assertEqual(shown, {key: reply[key] for key in ("uri", "name", "mimeType", "size")})
        path = shown["uri"].removeprefix("platform-pending:").split("/")
        content = self.call("GET", f"/workspaces/{path[0]}/pending-uploads/{path[1]}/content", ADMIN, replica=canvas)
        self.assertEqual(content.body, b"answer")

        history = self.get("/chat-history?limit=10", token=ADMIN, replica=canvas).json()
        self.assertTrue(history["reached_end"])
        self.assertEqual([(one["role"], one["content"]) for one in history["messages"]],
                         [("user", "read this"), ("agent", "here\nit is")])
        self.assertEqual(history["messages"][0]["id"], told["id"] + ":user")
        self.assertEqual(history["messages"][1]["attachments"], [shown])

        state = self.get("/state", replica=agent)
        self.assertEqual((state.status, state.json()["status"], state.json()["deleted"]), (200, "online", False))
        self.remove_agent(canvas, agent, socket)
        self.assertEqual(agent_socket.close_code(), 1008)

    def register_agent(self, agent):
        """As agents do that have no address: neither a mode nor a token."""
        said = {"id": str(uuid.uuid4()), "url": "remote://no-inbound", "agent_card": {"name": "walker", "skills": []}}
        answer = self.call("POST", "/registry/register", None, said, replica=agent)
        self.assertEqual((answer.status, answer.json()["delivery_mode"]), (200, "poll"), answer)
        made = Workspace(said["id"], answer.json()["auth_token"])
        beat = self.call("POST", "/registry/heartbeat", made.token, {"workspace_id": made.id}, replica=agent)
        self.assertEqual((beat.status, beat.json()["status"]), (200, "ok"))
        self.assertEqual(beat.json()["platform_inbound_secret"], answer.json()["platform_inbound_secret"])
        return made

    def remove_agent(self, canvas, agent, socket):
        """By the canvas, which hears of it; the agent on the other server finds out why its token has ended."""
        socket.presence = True
        path = f"/workspaces/{self.workspace.id}"
        removed = self.call("DELETE", f"{path}?confirm=true", ADMIN, headers=[("X-Confirm-Name", "walker")], replica=canvas)
        self.assertEqual((removed.status, removed.json()["status"]), (200, "removed"))
        while socket.next_event()["event"] != "WORKSPACE_REMOVED":
            pass
        await_true(lambda: self.get("/state", replica=agent).status == 401, 6, "the agent's token has ended")
        beat = self.call("POST", "/registry/heartbeat", self.workspace.token, {"workspace_id": self.workspace.id},
                         replica=agent)
        self.assertEqual(beat.status, 401)
        gone = self.get("", replica=agent)
        self.assertEqual((gone.status, gone.json()["code"], gone.json()["id"]),
                         (410, "workspace_removed", self.workspace.id))
        self.assertLessEqual({"removed_at", "hint"}, gone.json().keys())
        state = self.get("/state", token=ADMIN, replica=canvas)
        self.assertEqual((state.status, state.json()["deleted"]), (404, True))

    def events_until(self, source, last_name, rows):
        """All events up to the row that follows the named one; rows are counted by their seq."""
        events = []
        while not any(event["event"] == last_name for event in events) or events[-1]["event"] != "ACTIVITY_LOGGED":
            events.append(source.next_event())
            self.assertLess(len(events), 20)
        return events

    def test_a_stream_that_resumes_gets_the_words_again_and_its_place_is_that_of_rows(self):
        self.post("/a2a", message(text("one")))
        self.post("/notify", {"message": "two"})
        for replica in self.replicas:
            stream = self.stream(replica, last_event_id=0)
            seen = [(stream.next_event()["event"], stream.last_id) for _ in range(4)]
            self.assertEqual(seen, [("USER_MESSAGE", 0), ("ACTIVITY_LOGGED", 1),
                                    ("AGENT_MESSAGE", 1), ("ACTIVITY_LOGGED", 2)])
            resumed = self.stream(replica, last_event_id=1)
            self.assertEqual([resumed.next_event()["event"] for _ in range(2)], ["AGENT_MESSAGE", "ACTIVITY_LOGGED"])
        live = self.stream(self.replicas[1])
        self.post("/notify", {"message": "three"}, replica=self.replicas[0])
        self.assertEqual([(live.next_event()["event"], live.last_id) for _ in range(2)],
                         [("AGENT_MESSAGE", 2), ("ACTIVITY_LOGGED", 3)])

    def test_one_message_id_is_one_row_whoever_sends_it_how_often(self):
        peer = self.db.add_workspace()
        old = message(text("first"), messageId="same")
        new = {"jsonrpc": "2.0", "id": "x", "method": "SendMessage", "params": {
            "message": {"messageId": "same", "role": "ROLE_USER", "parts": [{"text": "second"}]}}}
        answers = []

        def send(i):
            token = peer.token if i % 3 == 0 else None
            answers.append(self.post("/a2a", old if i % 2 else new, token=token, replica=self.replicas[i % 2]))
        senders = [threading.Thread(target=send, args=(i,)) for i in range(50)]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        self.assertEqual([answer.status for answer in answers], [200] * len(senders), answers)
        (row,) = self.rows()
        words = row["request_body"]["params"]["message"]["parts"][0]["text"]
        for again in (old, new):
            answer = self.post("/a2a", again)
            self.assertEqual(answer.status, 200)
            self.assertEqual(answer.json()["method"], row["method"], "the first answer")
        (kept,) = self.rows()
        self.assertEqual(kept["request_body"]["params"]["message"]["parts"][0]["text"], words, "the first body stays")

    def test_a_message_id_whose_time_is_over_is_stored_again_at_once(self):
        said = message(text("again"))
        self.assertEqual(self.post("/a2a", said).status, 200)
        self.db.session.query("UPDATE upload_requests SET expires_at = now() - interval '1 second' "
                              f"WHERE workspace_id = '{self.workspace.id}' AND key LIKE 'message %'")
        self.assertEqual(self.post("/a2a", said).status, 200)
        self.assertEqual(len(self.rows()), 2)


class Peers(MessagesCase):
    def test_the_sender_is_the_owner_of_the_token(self):
        peer = self.db.add_workspace()
        self.db.session.query(f"UPDATE workspaces SET name = 'Ada', role = 'engineer' WHERE id = '{peer.id}'")
        said = message(text("hello"))
        for claimed in ((), [("X-Workspace-ID", peer.id)], [("X-Workspace-ID", peer.id.upper())]):
            self.assertEqual(self.post("/a2a", message(text("hello")), token=peer.token, headers=claimed).status, 200)
        rows = self.rows(include="&include=peer_info")
        self.assertEqual({(row["source_id"], row["target_id"], row["peer_name"], row["peer_role"]) for row in rows},
                         {(peer.id, self.workspace.id, "Ada", "engineer")})
        for row in rows:
            self.assertNotIn("metadata", row["request_body"]["params"], "not a person")
            self.assertTrue(row["agent_card_url"].endswith(f"/registry/discover/{peer.id}"), row)
        self.assertEqual(self.get(f"/activity?peer_id={peer.id}").json()[0]["source_id"], peer.id)

        for claimed in (self.workspace.id, str(uuid.uuid4()), "somebody"):
            answer = self.post("/a2a", said, token=peer.token, headers=[("X-Workspace-ID", claimed)])
            self.assertEqual((answer.status, answer.json()["code"]), (401, "invalid_token"))
        for claimed in ("webhook:x", "system:", "test:y", "channel:z"):
            for token in (peer.token, self.workspace.token, ADMIN):
                self.assertEqual(self.post("/a2a", said, token=token, headers=[("X-Workspace-ID", claimed)]).status,
                                 403)
        self.assertEqual(len(self.rows()), 3)

    def test_the_keys_of_a_peer_are_its_own(self):
        """Or it would learn, by repeating a key of the target, what that one has sent."""
        peers = [self.db.add_workspace() for _ in range(2)]
        for token in (self.workspace.token, *(peer.token for peer in peers)):
            said = message(text("mine"))
            for replayed in (None, "true"):
                answer = self.post("/a2a", said, token=token, headers=[("Idempotency-Key", "k")])
                self.assertEqual((answer.status, answer.headers.get("idempotency-replayed")), (200, replayed), answer)
        self.assertEqual(len(self.rows()), 3)

    def test_own_token_and_admin_speak_for_the_canvas(self):
        for token in (self.workspace.token, ADMIN):
            self.post("/a2a", message(text("hi")), token=token)
        for row in self.rows(include="&include=peer_info"):
            self.assertIsNone(row["source_id"])
            self.assertNotIn("agent_card_url", row)
            self.assertEqual(row["request_body"]["params"]["metadata"],
                             {"source": "canvas_user", "user_identity_status": "UNAUTHENTICATED"})
            self.assertEqual(row["request_body"]["params"]["message"]["contextId"], f"canvas-{self.workspace.id}")

    def test_a_peer_sends_messages_and_nothing_else(self):
        peer = self.db.add_workspace()
        for method, path, body in (("GET", "/activity", b""), ("POST", "/notify", {"message": "m"}),
                                   ("POST", "/activity", {"activity_type": "agent_log"}),
                                   ("GET", "/chat-history", b""), ("GET", "/pending-uploads", b"")):
            answer = self.call(method, f"/workspaces/{self.workspace.id}{path}", peer.token, body)
            self.assertEqual((answer.status, answer.json()["code"]), (401, "invalid_token"), path)
        self.assertEqual(self.call("POST", f"/workspaces/{uuid.uuid4()}/a2a", peer.token, message()).status, 404)

    def test_revoked_or_removed_while_the_body_is_on_its_way(self):
        for change, status in (
                ("UPDATE workspace_auth_tokens SET revoked_at = now() WHERE workspace_id = '{peer}'", 401),
                ("UPDATE workspaces SET removed_at = now(), status = 'removed' WHERE id = '{target}'", 404)):
            peer, target = self.db.add_workspace(), self.db.add_workspace()
            self.assertEqual(self.post("/a2a", message(text("known")), token=peer.token, workspace=target).status, 200)
            self.db.session.query(change.format(peer=peer.id, target=target.id))
            # The server has looked both up a moment ago, and believes what it knows for 5 s.
            answer = self.post("/a2a", message(text("late")), token=peer.token, workspace=target)
            self.assertEqual(answer.status, status, answer)
            stored = self.db.session.value(f"SELECT count(*) FROM activity_logs WHERE workspace_id = '{target.id}'")
            self.assertEqual(int(stored), 1)

    def test_agents_hear_themselves_and_those_they_may_talk_to(self):
        peer = self.db.add_workspace()
        ours = [("X-Workspace-ID", self.workspace.id)]
        with_header = self.websocket(self.server, headers=ours)
        without = self.websocket(self.server)
        self.post("/notify", {"message": "from the peer"}, workspace=peer)
        self.post("/notify", {"message": "from us"})
        self.assertEqual([with_header.next_event()["workspace_id"] for _ in range(4)],
                         [peer.id] * 2 + [self.workspace.id] * 2)
        self.assertEqual(without.next_event()["workspace_id"], self.workspace.id)
        for token, claimed in ((peer.token, self.workspace.id), (ADMIN, self.workspace.id), (peer.token, "x")):
            refused = self.enterContext(WebSocket(self.server.address, token, headers=[("X-Workspace-ID", claimed)]))
            self.assertEqual(refused.answer.status, 401)
        # A revoked token hears nobody any more.
        listed = self.get("/tokens").json()
        self.call("DELETE", f"/workspaces/{self.workspace.id}/tokens/{listed[0]['token_id']}", ADMIN)
        self.assertEqual(with_header.close_code(), 1008)

    def test_a_token_revoked_behind_the_servers_back_ends_the_socket_that_hears_all(self):
        agent = self.websocket(self.server, headers=[("X-Workspace-ID", self.workspace.id)])
        self.db.session.query(
            f"UPDATE workspace_auth_tokens SET revoked_at = now() WHERE workspace_id = '{self.workspace.id}'")
        self.assertEqual(agent.close_code(), 1008)


class Closed(MessagesCase):
    flags = ()

    def test_without_the_setting_workspaces_are_strangers(self):
        peer = self.db.add_workspace()
        for target in (self.workspace.id, str(uuid.uuid4())):
            answer = self.call("POST", f"/workspaces/{target}/a2a", peer.token, message(text("hi")))
            self.assertEqual((answer.status, answer.json()["code"]), (403, "peer_not_allowed"), "known or not")
        self.assertEqual(self.rows(), [])
        agent = self.websocket(self.server, headers=[("X-Workspace-ID", self.workspace.id)])
        self.post("/notify", {"message": "of the peer"}, workspace=peer)
        self.post("/notify", {"message": "ours"})
        self.assertEqual(agent.next_event()["workspace_id"], self.workspace.id)

    def test_credentials_of_a_websocket(self):
        def offer(protocols, token=None):
            with WebSocket(self.server.address, token, headers=[("Sec-WebSocket-Protocol", protocols)]) as socket:
                return socket.answer.status
        good = self.workspace.token.encode().hex()
        self.assertEqual(offer(f"molecule-auth.{good}, molecule-ws"), 101)
        self.assertEqual(offer(f"molecule-auth.{good}, molecule-ws", self.workspace.token), 101)
        self.assertEqual(offer("molecule-ws", self.workspace.token), 101)
        other = self.db.add_workspace().token
        for protocols, token in ((f"molecule-auth.{good}0, molecule-ws", None), ("molecule-auth., molecule-ws", None),
                                 ("molecule-auth.zz, molecule-ws", None), ("molecule-ws", None),
                                 (f"molecule-auth.{good}, molecule-auth.{good}, molecule-ws", None),
                                 (f"molecule-auth.{good}, bearer.{self.workspace.token}", None),
                                 (f"molecule-auth.{good}, molecule-ws", other)):
            self.assertEqual(offer(protocols, token), 401, protocols)
        self.assertNotIn(self.workspace.token, self.server.log_text())
        self.assertNotIn(good, self.server.log_text())


class Notices(MessagesCase):
    def test_the_row_is_what_clients_read(self):
        words = "ä" * 81
        self.assertEqual(self.post("/notify", {"message": words, "type": "ignored"}).json(), {"status": "sent"})
        (row,) = self.get("/activity?source=canvas").json()
        self.assertEqual(
            {key: row.get(key) for key in ("activity_type", "method", "summary", "status", "response_body",
                                           "source_id", "target_id", "request_body", "duration_ms", "error_detail",
                                           "tool_trace")},
            {"activity_type": "a2a_receive", "method": "notify", "summary": "Agent message: " + "ä" * 80 + "…",
             "status": "ok", "response_body": {"result": words}, "source_id": None, "target_id": None,
             "request_body": None, "duration_ms": None, "error_detail": None, "tool_trace": None})

    def test_refused_as_a_whole(self):
        other = self.stage(b"x", workspace=self.db.add_workspace())
        path = other["uri"].replace("platform-pending:", "/workspaces/").replace("/" + other["file_id"], "/content/")
        before = self.db.counts()
        for body in (b"", b"{", b"[]", b"\xff", {"message": ""}, {"message": None}, {"message": 7}, {"type": "x"}):
            answer = self.post("/notify", body)
            self.assertEqual((answer.status, answer.json()["error"]), (400, "message is required"), body)
        for body, words in (({"message": "m", "attachments": {}}, "attachments must be a list"),
                            ({"message": "m", "attachments": [{"uri": "u", "name": "n"}] * 65}, "at most 64"),
                            ({"message": "m", "attachments": [{"uri": path + other["file_id"], "name": "n"}]},
                             "of this workspace"),
                            ({"message": "m", "attachments": [{"uri": "u"}]},
                             "attachment[0]: uri and name are required"),
                            ({"message": "m", "attachments": [other]}, "of this workspace")):
            answer = self.post("/notify", body)
            self.assertEqual(answer.status, 400, answer)
            self.assertIn(words, answer.json()["error"])
        unknown = self.call("POST", f"/workspaces/{uuid.uuid4()}/notify", ADMIN, {"message": "m"})
        self.assertEqual((unknown.status, unknown.json()["error"]), (404, "workspace not found"))
        self.assertEqual(self.db.counts(), before)

    def test_a_key_is_the_same_request_however_the_id_is_spelt(self):
        for spelt, replayed in ((self.workspace.id, None), (self.workspace.id.upper(), "true")):
            answer = self.call("POST", f"/workspaces/{spelt}/notify", self.workspace.token, {"message": "m"},
                               headers=[("Idempotency-Key", "k")])
            self.assertEqual((answer.status, answer.headers.get("idempotency-replayed")), (200, replayed), answer)

    def test_a_key_says_it_once(self):
        def send(words):
            return self.post("/notify", {"message": words}, headers=[("Idempotency-Key", "k")])
        first, again, other = send("one"), send("one"), send("two")
        self.assertEqual((first.status, again.status, other.status), (200, 200, 422))
        self.assertEqual(again.headers.get("idempotency-replayed"), "true")
        self.assertEqual(len(self.rows()), 1)


class History(MessagesCase):
    def page(self, limit, before=None):
        answer = self.get(f"/chat-history?limit={limit}" + (f"&before_ts={before}" if before else ""))
        self.assertEqual(answer.status, 200, answer)
        return answer.json()

    def test_pages_backwards_miss_nothing_and_repeat_nothing(self):
        self.stage(b"x")
        for i in range(7):
            self.post("/a2a", message(text(f"q{i}")))
            self.post("/notify", {"message": f"a{i}"})
        # Rows of one transaction have one time.
        self.db.session.query(f"UPDATE activity_logs SET created_at = (SELECT created_at FROM activity_logs WHERE "
                              f"workspace_id = '{self.workspace.id}' AND seq = 6) WHERE workspace_id = "
                              f"'{self.workspace.id}' AND seq BETWEEN 5 AND 8")
        peer = self.db.add_workspace()
        self.post("/a2a", message(text("of a peer, in the feed alone")), token=peer.token)
        for limit in (1, 2, 3, 5, 200):
            shown, before, ended = [], None, False
            for _ in range(20):
                page = self.page(limit, before)
                shown = page["messages"] + shown
                if page["reached_end"]:
                    ended = True
                    break
                before = page["messages"][0]["timestamp"]
            self.assertTrue(ended)
            self.assertEqual([one["content"] for one in shown],
                             [words for i in range(7) for words in (f"q{i}", f"a{i}")], limit)

    def test_thousands_of_uploads_without_a_word_are_passed_over_in_bounded_steps(self):
        self.post("/a2a", message(text("the only word")))
        self.db.session.query(
            f"WITH made AS (SELECT '{self.workspace.id}'::uuid AS ws, array_agg(gen_random_uuid()) AS ids, "
            "array_agg('a2a_receive'::text) AS types, array_agg('chat_upload_receive'::text) AS methods, "
            "array_agg('{\"uri\":\"u\"}'::text) AS bodies FROM generate_series(1, 6000)) "
            "SELECT count(*) FROM made, publish_activity(ws, ids, types, methods, '{}', '{}', '{}', bodies, '{}', '{}', "
            "'{}', '{}', '{}')")
        first = self.page(10)
        self.assertEqual((first["messages"], first["reached_end"]), ([], False))
        # All of them have one time; with another for the older half the client comes past them.
        self.db.session.query(f"UPDATE activity_logs SET created_at = created_at - interval '1 s' WHERE "
                              f"workspace_id = '{self.workspace.id}' AND seq < 3000")
        page = self.page(10)
        self.assertEqual(page["messages"], [])
        page = self.page(10, page["next_before_ts"])
        self.assertEqual([one["content"] for one in page["messages"]], ["the only word"])
        self.assertTrue(page["reached_end"])

    def test_bad_queries(self):
        for query, status in (("?before_ts=yesterday", 400), ("?limit=x", 200), ("?limit=1&limit=2", 400)):
            self.assertEqual(self.get("/chat-history" + query).status, status, query)
        self.assertEqual(self.call("GET", f"/workspaces/{uuid.uuid4()}/chat-history", ADMIN).status, 404)


class Canvas(MessagesCase):
    """A page of another origin, which fetches with credentials."""

    flags = ("--allowed-origin", "http://localhost:3001")

    def options(self, origin, headers):
        return self.call("OPTIONS", f"/workspaces/{self.workspace.id}/a2a", None, headers=[
            ("Origin", origin), ("Access-Control-Request-Method", "POST"), ("Access-Control-Request-Headers", headers)])

    def test_the_preflight_allows_what_canvases_send(self):
        wanted = "authorization,content-type,x-workspace-id,x-molecule-org-id,x-molecule-org-slug,x-confirm-name"
        answer = self.options("http://localhost:3001", wanted)
        self.assertEqual(answer.status, 204)
        allowed = {name.strip().lower() for name in answer.headers["access-control-allow-headers"].split(",")}
        self.assertLessEqual(set(wanted.split(",")), allowed)
        self.assertIn("POST", answer.headers["access-control-allow-methods"])
        self.assertEqual((answer.headers["access-control-allow-origin"],
                          answer.headers["access-control-allow-credentials"], answer.headers["vary"]),
                         ("http://localhost:3001", "true", "Origin"))
        self.assertNotIn("access-control-allow-origin", self.options("http://localhost:3000", wanted).headers)

    def test_its_own_origin_is_never_refused_and_needs_no_permission(self):
        for origin in ("http://test", "https://test"):
            answer = self.post("/a2a", message(text("hi")), headers=[("Origin", origin)])
            self.assertEqual(answer.status, 200)
            self.assertNotIn("access-control-allow-origin", answer.headers)
            self.websocket(self.server, headers=[("Origin", origin)])
        refused = self.enterContext(WebSocket(self.server.address, self.workspace.token,
                                              headers=[("Origin", "https://other.example")]))
        self.assertEqual(refused.answer.status, 403)


class Hostile(MessagesCase):
    def test_bodies_that_are_refused_store_nothing(self):
        deep = b'{"method":"m","params":' + b"[" * 40 + b"]" * 40 + b"}"
        before = self.db.counts()
        for body, words in ((b"", "invalid JSON"), (b"[]", "invalid JSON"), (b"7", "invalid JSON"), (deep, "invalid JSON"),
                            (b'{"method":"m","method":"m"}', "invalid JSON"),
                            (b'{"method":"m","params":{"message":{"parts":[{"a":1,"\\u0061":2}]}}}', "invalid JSON"),
                            (b'{"method":"\\ud800"}', "invalid JSON"), (b'{"method":"\xed\xa0\x80"}', "invalid JSON"),
                            (b'{"method":"m\\u0000"}', "method"), (b'{"method":7}', "method"), (b"{}", "method"),
                            (b'{"method":"m","params":{"message":{}}}', "parts"),
                            (b'{"method":"m","params":{"message":{"content":7}}}', "content")):
            answer = self.post("/a2a", body)
            self.assertEqual(answer.status, 400, (body[:60], answer))
            self.assertIn(words, answer.json()["error"], body[:60])
        self.assertEqual(self.db.counts(), before)

    def test_bodies_that_are_odd_are_kept_as_they_were_written(self):
        body = (b'{"jsonrpc":"2.0","id":1e0,"method":"m","params":{"message":{"messageId":"x","role":"user","contextId":"c",'
                b'"parts":[{"kind":"text","text":"\\u0000\\ud83d\\ude00"},{"n":1e1000000,"m":-0.0}]},"metadata":{}}}')
        self.assertEqual(self.post("/a2a", body).status, 200)
        stored = self.db.session.value(
            f"SELECT request_body FROM activity_logs WHERE workspace_id = '{self.workspace.id}'")
        self.assertEqual(stored.encode(), body.replace(
            b'"metadata":{}', b'"metadata":{"source":"canvas_user","user_identity_status":"UNAUTHENTICATED"}'))

    def test_above_the_cap_it_says_how_much_is_allowed(self):
        for headers, body in (((), b" " * (16 * MIB + 1)),):
            answer = self.post("/a2a", body, headers=headers)
            self.assertEqual((answer.status, answer.json()["code"], answer.json()["truncated"],
                              answer.json()["max_bytes"]), (413, "message_too_large", True, 16 * MIB))
        self.assertEqual(self.rows(), [])


if __name__ == "__main__":
    unittest.main()
