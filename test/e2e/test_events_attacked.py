#!/usr/bin/env python3
"""Events under hostile use: large rows, streams that are resumed and not read, tokens revoked meanwhile, a
server that was stopped for a while."""

import os
import signal
import time
import unittest

from events_case import ADMIN, EventsCase, consecutive
from http_wire import Wire, await_true, request_head
from server_process import BINARY, Server, is_sanitized, release_binary
from websocket_client import EventStream

LARGE = 900_000
MIB = 1 << 20
# What one shard may hold for its listeners (event_memory), and the servers here have two.
HELD_BY_ALL_SHARDS = 64 * MIB


def slowly(_):
    time.sleep(0.5)


def streams_active(server):
    return server.metrics()["molecule_event_streams_active"]


class LargeRows(EventsCase):
    def test_a_resumed_stream_gets_every_row_and_then_the_live_one(self):
        server, = self.replicas
        self.publish(self.workspace, rows=30, body_bytes=LARGE)
        listener = self.listener(self.stream(server, last_event_id=0))
        await_true(lambda: len(listener.heard) >= 18, 30, "the replay has begun")
        self.uploader(server).upload(self.workspace)
        self.await_heard(listener, 31)
        self.assertEqual(listener.seqs(), consecutive(1, 31))

    def test_rows_committed_during_the_replay_follow_it(self):
        server, = self.replicas
        self.publish(self.workspace, rows=30, body_bytes=LARGE)
        stream = self.stream(server, last_event_id=0)
        self.assertEqual([stream.next_event()["payload"]["seq"] for _ in range(3)], [1, 2, 3])
        uploader = self.uploader(server)
        for _ in range(10):
            uploader.upload(self.workspace)
        self.publish(self.workspace, rows=10, body_bytes=LARGE)
        listener = self.listener(stream)
        self.await_heard(listener, 47)
        uploader.upload(self.workspace)
        self.await_heard(listener, 48)
        self.assertEqual(listener.seqs(), consecutive(4, 48))

    def test_a_live_stream_that_falls_behind_reads_on_from_the_database(self):
        server, = self.replicas
        stream = self.stream(server)
        uploader = self.uploader(server)
        uploader.upload(self.workspace)
        self.assertEqual(stream.next_event()["payload"]["seq"], 1)
        # More than any socket buffer and the queue hold.
        self.publish(self.workspace, rows=30, body_bytes=LARGE)
        for _ in range(300):
            uploader.upload(self.workspace)
        listener = self.listener(stream)
        self.await_heard(listener, 330)
        self.assertEqual(listener.seqs(), consecutive(2, 330))


class Gaps(EventsCase):
    def publish_and_remove(self, rows, first, last):
        """In one transaction, as if retention had been quicker than every reader."""
        self.db.session.query(
            "DO $$ BEGIN PERFORM publish_activity("
            f"'{self.workspace.id}', (SELECT array_agg(gen_random_uuid()) FROM generate_series(1, {rows})), "
            f"(SELECT array_agg('agent_log'::text) FROM generate_series(1, {rows})), '{{}}', '{{}}', '{{}}', '{{}}', "
            f"'{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}'); DELETE FROM activity_logs "
            f"WHERE workspace_id = '{self.workspace.id}' AND seq BETWEEN {first} AND {last}; END $$")

    def test_what_retention_has_removed_is_passed_over(self):
        server, = self.replicas
        live = self.stream(server)
        self.publish_and_remove(9, 3, 5)
        with EventStream(server.address, self.workspace, last_event_id=2) as resumed:
            self.assertEqual(resumed.status, 410, "a client that was away hears that rows are gone")
        from_the_start = self.stream(server, last_event_id=0)
        self.uploader(server).upload(self.workspace)
        for stream in (live, from_the_start):
            listener = self.listener(stream)
            self.await_heard(listener, 7)
            self.assertEqual(listener.seqs(), [1, 2, 6, 7, 8, 9, 10])

    def test_a_feed_that_goes_back_takes_its_streams_along(self):
        """As after a restore of an older backup."""
        server, = self.replicas
        self.publish(self.workspace, rows=9)
        listener = self.listener(self.stream(server, last_event_id=0))
        self.await_heard(listener, 9)
        self.db.session.query(
            f"DELETE FROM activity_logs WHERE workspace_id = '{self.workspace.id}' AND seq > 4;"
            f"UPDATE activity_heads SET seq = 4 WHERE workspace_id = '{self.workspace.id}'")
        await_true(lambda: "feed_went_back" in server.log_text(), 15, "the server has noticed")
        self.uploader(server).upload(self.workspace)
        self.await_heard(listener, 10)
        self.assertEqual(listener.seqs(), [*consecutive(1, 9), 5])


class Revoked(EventsCase):
    servers = 2

    def delete(self, target):
        with Wire(self.replicas[0].address) as wire:
            wire.send(request_head("DELETE", target, [("Host", "test"), ("Authorization", f"Bearer {ADMIN}")]))
            self.assertEqual(wire.read_answer().status, 200)

    def revoke(self):
        token = self.db.session.value(
            f"SELECT id FROM workspace_auth_tokens WHERE workspace_id = '{self.workspace.id}'")
        self.delete(f"/workspaces/{self.workspace.id}/tokens/{token}")

    def revoke_without_a_notice(self):
        self.db.session.query(
            f"UPDATE workspace_auth_tokens SET revoked_at = now() WHERE workspace_id = '{self.workspace.id}'")

    def remove(self):
        self.delete(f"/workspaces/{self.workspace.id}?confirm=true")

    def assert_replay_ends(self, server, action):
        """The reader is slow enough that the replay would take 20 s more, and never stops reading."""
        self.workspace = self.db.add_workspace()
        self.publish(self.workspace, rows=40, body_bytes=LARGE)
        listener = self.listener(self.stream(server, last_event_id=0), on_event=slowly)
        await_true(lambda: listener.heard, 10, "the replay has begun")
        action()
        await_true(lambda: streams_active(server) == 0, 5, "the stream is over")
        self.publish(self.workspace)
        await_true(lambda: listener.ended, 30, "what was on its way has been read")
        self.assertEqual(listener.seqs(), consecutive(1, len(listener.heard)))
        self.assertLess(len(listener.heard), 40)

    def test_a_replay_ends_with_its_token(self):
        for server in self.replicas:
            for action in (self.revoke, self.revoke_without_a_notice, self.remove):
                with self.subTest(action.__name__, server=self.replicas.index(server)):
                    self.assert_replay_ends(server, action)

    def test_a_replay_that_is_not_read_ends_with_its_token(self):
        server = self.replicas[1]
        self.publish(self.workspace, rows=40, body_bytes=LARGE)
        stream = self.stream(server, last_event_id=0)
        self.assertEqual(stream.next_event()["payload"]["seq"], 1)
        self.revoke()
        await_true(lambda: streams_active(server) == 0, 5, "the stream is over")

    def test_a_parked_poll_ends_with_its_token(self):
        for server in self.replicas:
            for action in (self.revoke, self.revoke_without_a_notice, self.remove):
                with self.subTest(action.__name__, server=self.replicas.index(server)):
                    self.workspace = self.db.add_workspace()
                    wire = self.enterContext(Wire(server.address, timeout=60))
                    wire.send(request_head("GET", f"/workspaces/{self.workspace.id}/activity?since_seq=0&wait=50", [
                        ("Host", "test"), ("Authorization", f"Bearer {self.workspace.token}")]))
                    await_true(lambda: server.metrics()["molecule_parked_polls"] == 1, 10, "the poll is parked")
                    action()
                    began = time.monotonic()
                    self.assertEqual(wire.read_answer().status, 401)
                    self.assertLess(time.monotonic() - began, 5)


class Memory(EventsCase):
    """Measured on the release build if there is one; a sanitizer keeps what is freed, and then only the
    server's own count says something."""

    def setUp(self):
        super().setUp()
        self.binary = release_binary() or BINARY
        self.server = self.enterContext(Server(self.db.conninfo, "--threads", "2", "--db-connections", "8",
                                               binary=self.binary)).wait_ready()

    def assert_held(self, before, bound):
        grown = self.server.resident_bytes(peak=True) - before
        print(f"\nthe process grew by {grown / MIB:.0f} MiB", end=" ")
        if not is_sanitized(self.binary):
            self.assertLess(grown, bound)

    def test_a_server_that_was_stopped_catches_up_in_small_steps(self):
        workspaces = [self.db.add_workspace() for _ in range(16)]
        sources = [self.stream(self.server, workspace) for workspace in workspaces]
        sources += [self.websocket(self.server, workspace.token) for workspace in workspaces]
        listeners = [self.listener(source) for source in sources]
        before = self.server.resident_bytes(peak=True)
        os.kill(self.server.process.pid, signal.SIGSTOP)
        try:
            for workspace in workspaces:
                self.publish(workspace, rows=16, body_bytes=LARGE)
        finally:
            os.kill(self.server.process.pid, signal.SIGCONT)
        for listener in listeners:
            self.await_heard(listener, 16, within=60)
            self.assertEqual(listener.seqs(), consecutive(1, 16))
        self.assert_held(before, 64 * MIB)

    def test_streams_that_are_resumed_and_not_read(self):
        self.publish(self.workspace, rows=12, body_bytes=LARGE)
        before = self.server.resident_bytes(peak=True)
        most = 0
        for _ in range(200):
            self.enterContext(EventStream(self.server.address, self.workspace, last_event_id=0, receive_buffer=4096))
            most = max(most, self.server.metrics()["molecule_events_held_bytes"])
        print(f"\nat most {most / MIB:.0f} MiB were held", end=" ")
        self.assertGreater(most, 0)
        self.assertLessEqual(most, HELD_BY_ALL_SHARDS)
        self.assert_held(before, HELD_BY_ALL_SHARDS + 64 * MIB)
        # One that reads is not the one to suffer.
        listener = self.listener(self.stream(self.server, last_event_id=0))
        self.await_heard(listener, 12)
        self.assertEqual(listener.seqs(), consecutive(1, 12))


if __name__ == "__main__":
    unittest.main()
