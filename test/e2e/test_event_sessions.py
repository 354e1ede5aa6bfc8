#!/usr/bin/env python3
"""Who may subscribe, for how long, and what happens to clients that break the rules."""

import struct
import threading
import time
import unittest
import uuid

from events_case import ADMIN, ORIGIN, EventsCase, Uploader, consecutive
from http_wire import Wire, await_true, request_head
from websocket_client import (BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT, Closed, EventStream, WebSocket, frame,
                              handshake)


class Handshakes(EventsCase):
    def refusal(self, data):
        with Wire(self.replicas[0].address) as wire:
            wire.send(data)
            return wire.read_answer()

    def opened(self, **how):
        return self.enterContext(WebSocket(self.replicas[0].address, **how))

    def test_what_is_no_handshake(self):
        token = self.workspace.token
        plain = request_head("GET", "/ws", [("Host", "test"), ("Authorization", f"Bearer {token}")])
        for data, status in (
                (plain, 426),
                (handshake("/ws", token, version="8"), 426),
                (handshake("/ws", token, version=""), 426),
                (handshake("/ws", token, key=""), 400),
                (handshake("/ws", token, key="c2hvcnQ="), 400),
                (handshake("/ws", token, key="not base64 at all!!!!!=="), 400),
                (handshake("/ws", token).replace(b"HTTP/1.1", b"HTTP/1.0"), 426),
                (handshake("/ws", token).replace(b"GET", b"POST"), 405)):
            answer = self.refusal(data)
            self.assertEqual(answer.status, status, data)
            if status == 426:
                self.assertEqual(answer.headers["upgrade"], "websocket")
                self.assertEqual(answer.headers["sec-websocket-version"], "13")

    def test_whose_token_opens_what(self):
        other = self.db.add_workspace()
        for token, target, status in (
                (None, "/ws", 401),
                ("x" * 43, "/ws", 401),
                (self.workspace.token, "/ws", 101),
                (self.workspace.token, f"/ws?workspace_id={self.workspace.id}", 101),
                (self.workspace.token, f"/ws?workspace_id={other.id}", 401),
                (self.workspace.token, "/ws?workspace_id=no-uuid", 400),
                (ADMIN, "/ws", 101),
                (ADMIN, f"/ws?workspace_id={other.id}", 101),
                (ADMIN, f"/ws?workspace_id={uuid.uuid4()}", 404)):
            self.assertEqual(self.opened(token=token, target=target).answer.status, status, (token, target))
        for token, status in ((other.token, 401), ("", 401), (ADMIN, 200)):
            with EventStream(self.replicas[0].address, self.workspace, token=token or "Basic") as stream:
                self.assertEqual(stream.status, status)

    def test_a_token_may_come_as_a_sub_protocol_and_is_not_echoed(self):
        since = self.replicas[0].log_size()
        good, wrong = self.workspace.token, "A" * 43
        for offer, status, echoed in (
                (f"restante.v1, bearer.{good}", 101, "restante.v1"),
                (f"bearer.{good},restante.v1", 101, "restante.v1"),
                (f"bearer.{good}", 101, None),
                (f"restante.v1, bearer.{wrong}", 401, None),
                ("restante.v1, bearer.", 401, None),
                ("restante.v1", 401, None),
                (f"restante.v1, bearer.{good}, bearer.{good}", 401, None),
                (f"restante.v1, bearer.{'a' * 600}", 401, None)):
            answer = self.opened(headers=[("Sec-WebSocket-Protocol", offer)]).answer
            self.assertEqual(answer.status, status, offer)
            self.assertEqual(answer.headers.get("sec-websocket-protocol"), echoed)
        self.assertEqual(self.refusal(request_head("GET", f"/workspaces/{self.workspace.id}/tokens", [
            ("Host", "test"), ("Sec-WebSocket-Protocol", f"bearer.{good}")])).status, 401)
        log = self.replicas[0].log_text(since)
        self.assertNotIn(good, log)
        self.assertNotIn(wrong, log)

    def test_the_origin_of_a_page_is_checked(self):
        for origin, status in ((ORIGIN, 101), ("https://evil.example", 403), ("null", 403),
                               (ORIGIN + ".evil.example", 403)):
            answer = self.opened(token=self.workspace.token, headers=[("Origin", origin)]).answer
            self.assertEqual(answer.status, status, origin)

    def test_frames_before_the_answer_are_refused(self):
        with Wire(self.replicas[0].address) as wire:
            wire.send(handshake("/ws", self.workspace.token) + frame(TEXT, b"too early"))
            with self.assertRaises(ConnectionError):
                wire.read_answer()

    def test_the_admin_hears_everybody_and_a_workspace_itself(self):
        other = self.db.add_workspace()
        everything = self.opened(token=ADMIN)
        one = self.opened(token=ADMIN, target=f"/ws?workspace_id={other.id}")
        own = self.opened(token=self.workspace.token)
        uploader = self.uploader(self.replicas[0])
        for workspace in (self.workspace, other, self.workspace):
            uploader.upload(workspace)
        heard = sorted((event["workspace_id"], event["payload"]["seq"])
                       for event in (everything.next_event() for _ in range(3)))
        self.assertEqual(heard, sorted([(self.workspace.id, 1), (self.workspace.id, 2), (other.id, 1)]))
        self.assertEqual(one.next_event()["workspace_id"], other.id)
        self.assertEqual([own.next_event()["payload"]["seq"] for _ in range(2)], [1, 2])


class WithoutTokens(EventsCase):
    flags = ("--dev",)

    def test_a_browser_that_offers_sub_protocols_gets_the_one_we_speak(self):
        for offer, status, echoed in (
                ("restante.v1", 101, "restante.v1"),
                ("chat, restante.v1", 101, "restante.v1"),
                ("chat", 101, None),
                ("restante.v1, bearer.wrong", 401, None)):
            with WebSocket(self.replicas[0].address, headers=[("Sec-WebSocket-Protocol", offer)]) as socket:
                self.assertEqual((socket.answer.status, socket.answer.headers.get("sec-websocket-protocol")),
                                 (status, echoed), offer)


class HostileFrames(EventsCase):
    def test_each_is_answered_with_its_code(self):
        server, = self.replicas
        huge = struct.pack("!BBQ", 0x81, 0xFF, 1 << 63) + b"mask"
        for name, data, code in (
                ("not masked", frame(TEXT, b"hello", masked=False), 1002),
                ("reserved bit", frame(TEXT, b"hello", rsv=4), 1002),
                ("reserved opcode", frame(3, b"hello"), 1002),
                ("reserved control opcode", frame(11), 1002),
                ("ping in pieces", frame(PING, b"x", fin=False), 1002),
                ("ping of 126 bytes", frame(PING, b"x" * 126), 1002),
                ("continues nothing", frame(CONTINUATION, b"x"), 1002),
                ("a new message inside one", frame(TEXT, b"x", fin=False) + frame(TEXT, b"y"), 1002),
                ("text that is not UTF-8", frame(TEXT, b"\xC3\x28"), 1007),
                ("a surrogate", frame(TEXT, b"\xED\xA0\x80"), 1007),
                ("close of one byte", frame(CLOSE, b"x"), 1002),
                ("close with 1005", frame(CLOSE, struct.pack("!H", 1005)), 1002),
                ("close with 999", frame(CLOSE, struct.pack("!H", 999)), 1002),
                ("close with a reason that is not UTF-8", frame(CLOSE, struct.pack("!H", 1000) + b"\xFF"), 1002),
                ("64 KiB and a byte", frame(TEXT, b"x" * (64 * 1024 + 1)), 1009),
                ("a gigabyte announced", frame(TEXT, length=1 << 30), 1009),
                ("a length with the highest bit", huge, 1009),
                ("many pieces", frame(TEXT, b"x" * 1000, fin=False) + 100 * frame(CONTINUATION, b"x" * 1000, fin=False),
                 1009),
                ("random", bytes(range(200, 256)) * 20, 1002),
                ("the next request", b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n", 1002)):
            with self.subTest(name):
                socket = self.websocket(server)
                socket.socket.sendall(data)
                self.assertEqual(socket.close_code(), code)
        await_true(lambda: server.metrics()["molecule_websocket_connections_active"] == 0, 10, "all are gone")

    def test_what_is_allowed_is_ignored_or_answered(self):
        socket = self.websocket(self.replicas[0])
        socket.send(TEXT, "anything, Grüße".encode())
        socket.send(BINARY, bytes(range(256)))
        socket.send(TEXT, b"in ", fin=False)
        socket.send(PING, b"are you there")
        socket.send(CONTINUATION, b"pieces")
        socket.send(PONG, b"unasked")
        self.assertEqual(socket.next_frame(), (PONG, b"are you there"))
        self.uploader(self.replicas[0]).upload(self.workspace)
        self.assertEqual(socket.next_event()["payload"]["seq"], 1)
        socket.send(CLOSE, struct.pack("!H", 1000) + b"bye")
        self.assertEqual(socket.next_frame(), (CLOSE, struct.pack("!H", 1000)))

    def test_half_a_frame_and_a_sudden_end_disturb_nobody(self):
        server, = self.replicas
        healthy = self.websocket(server)
        for data in (b"\x81", frame(TEXT, b"x" * 500)[:100], frame(PING)[:3]):
            with WebSocket(server.address, self.workspace.token) as broken:
                broken.socket.sendall(data)
        self.uploader(server).upload(self.workspace)
        self.assertEqual(healthy.next_event()["payload"]["seq"], 1)
        await_true(lambda: server.metrics()["molecule_websocket_connections_active"] == 1, 10, "the others are gone")


class LostTokens(EventsCase):
    servers = 2

    def assert_sent_away(self, socket, stream, within=5):
        began = time.monotonic()
        self.assertEqual(socket.close_code(within), 1008)
        with self.assertRaises(Closed):
            stream.next_event(within)
        self.assertLess(time.monotonic() - began, within)

    def delete(self, target):
        with Wire(self.replicas[0].address) as wire:
            wire.send(request_head("DELETE", target, [("Host", "test"), ("Authorization", f"Bearer {ADMIN}")]))
            self.assertEqual(wire.read_answer().status, 200)

    def test_revoked_on_one_server_closed_on_the_other(self):
        token = self.db.session.value(
            f"SELECT id FROM workspace_auth_tokens WHERE workspace_id = '{self.workspace.id}'")
        stays = self.websocket(self.replicas[1], self.db.add_workspace().token)
        socket, stream = self.websocket(self.replicas[1]), self.stream(self.replicas[1])
        self.delete(f"/workspaces/{self.workspace.id}/tokens/{token}")
        self.assert_sent_away(socket, stream)
        with self.assertRaises(TimeoutError):
            stays.next_event(within=0.2)

    def test_a_removed_workspace(self):
        socket, stream = self.websocket(self.replicas[1]), self.stream(self.replicas[1])
        self.delete(f"/workspaces/{self.workspace.id}?confirm=true")
        self.assert_sent_away(socket, stream)

    def test_revoked_without_a_bell(self):
        socket, stream = self.websocket(self.replicas[1]), self.stream(self.replicas[1])
        self.db.session.query(
            f"UPDATE workspace_auth_tokens SET revoked_at = now() WHERE workspace_id = '{self.workspace.id}'")
        self.assert_sent_away(socket, stream)


class Resuming(EventsCase):
    servers = 2

    def test_the_head_and_the_first_words(self):
        self.uploader(self.replicas[0]).upload(self.workspace)
        stream = self.stream(self.replicas[1])
        self.assertEqual(stream.headers["content-type"], "text/event-stream")
        self.assertEqual(stream.headers["cache-control"], "no-store")
        self.assertIn("x-request-id", stream.headers)
        self.uploader(self.replicas[0]).upload(self.workspace)
        self.assertEqual(stream.next_event()["payload"]["seq"], 2)
        self.assertEqual((stream.retry, stream.last_id), (2000, 2))

    def test_head_is_answered_as_get_is_but_for_the_events(self):
        path = f"/workspaces/{self.workspace.id}/events/stream"
        for token, status in ((self.workspace.token, 200), ("A" * 43, 401)):
            heads = []
            for method in ("HEAD", "GET"):
                with Wire(self.replicas[0].address) as wire:
                    wire.send(request_head(method, path, [("Host", "test"), ("Authorization", f"Bearer {token}"),
                                                          ("X-Request-Id", "the-same-one"), ("Last-Event-ID", "0")]))
                    answer = wire.read_answer(head_only=True)
                    heads.append({name: text for name, text in answer.headers.items() if name not in ("date", "x-trace-id")})
                    self.assertEqual(answer.status, status)
                    if method == "HEAD" and status == 200:
                        self.assertTrue(wire.is_closed(), "and nothing after it")
            self.assertEqual(heads[0], heads[1])

    def test_bad_positions(self):
        for claimed, status in (("x", 400), ("-1", 400), ("1.5", 400), ("9" * 30, 400), ("7", 200)):
            with EventStream(self.replicas[0].address, self.workspace, last_event_id=claimed) as stream:
                self.assertEqual(stream.status, status, claimed)
        # A number that the feed has not reached: from before the database was restored to an older state.
        stream = self.stream(self.replicas[0], last_event_id=1000)
        self.uploader(self.replicas[0]).upload(self.workspace)
        self.assertEqual(stream.next_event()["payload"]["seq"], 1)

    def test_no_gap_and_no_double_between_replay_and_live(self):
        self.publish(self.workspace, rows=300)
        done = threading.Event()

        def write():
            with Uploader(self.replicas[0].address) as uploader:
                while not done.is_set():
                    uploader.upload(self.workspace)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for position in range(0, 300, 15):
                with self.stream(self.replicas[position % 2], last_event_id=position) as stream:
                    wanted = self.seq(self.workspace) + 20 - position
                    heard = [stream.next_event()["payload"]["seq"] for _ in range(wanted)]
                self.assertEqual(heard, consecutive(position + 1, wanted))
        finally:
            done.set()
            writer.join()

    def test_bodies_over_several_lines_are_one_event(self):
        stream = self.stream(self.replicas[0])
        self.db.session.query(
            f"SELECT publish_activity('{self.workspace.id}', ARRAY[gen_random_uuid()], ARRAY['agent_log'], '{{}}',"
            " '{}', '{}', '{}', ARRAY[E'{\"a\":\\r\\n\\n [1,\\n2]}'], '{}', '{}', '{}', '{}', '{}')")
        self.assertEqual(stream.next_event(within=8)["payload"]["request_body"], {"a": [1, 2]})

    def test_a_client_that_hangs_up_is_forgotten(self):
        with self.stream(self.replicas[0]):
            pass
        await_true(lambda: self.replicas[0].metrics()["molecule_event_streams_active"] == 0, 5, "the stream is gone")


if __name__ == "__main__":
    unittest.main()
