#!/usr/bin/env python3
"""Long polls: parked without a database connection, woken once, answered when the server stops."""

import random
import selectors
import time
import unittest

from http_wire import Wire, await_true
from inbox_case import InboxCase
from server_process import Server

MESSAGE = {"jsonrpc": "2.0", "method": "message/send", "params": {}}


class Parked(InboxCase):
    def park(self, workspace=None, query="since_seq=0&wait=50", address=None):
        wire = self.enterContext(Wire(address or self.server.address, timeout=60))
        wire.send(self.head("GET", "/activity?" + query, workspace))
        return wire

    def await_parked(self, count):
        await_true(lambda: self.parked() == count, 30, f"{count} polls are parked")

    def test_a_row_that_is_there_answers_at_once_and_time_runs_out_with_nothing(self):
        self.post("/a2a", MESSAGE)
        self.assertEqual(self.seqs("/activity?since_seq=0&wait=50"), [1])
        begun = time.monotonic()
        self.assertEqual(self.seqs("/activity?since_seq=1&wait=1"), [])
        self.assertGreaterEqual(time.monotonic() - begun, 1)
        self.assertEqual(self.seqs("/activity?wait=50"), [1])  # without a cursor there is nothing to wait for

    def test_only_the_workspace_and_the_filter_that_match_wake(self):
        other = self.db.add_workspace()
        mine, typed, foreign = self.park(), self.park(query="since_seq=0&wait=50&type=error"), self.park(other)
        self.await_parked(3)
        self.post("/a2a", MESSAGE)
        self.assertEqual([row["seq"] for row in mine.read_answer().json()], [1])
        self.await_parked(2)
        self.post("/activity", {"activity_type": "error"})
        self.assertEqual([row["seq"] for row in typed.read_answer().json()], [2])
        self.await_parked(1)
        self.post("/a2a", MESSAGE, other)
        self.assertEqual([row["seq"] for row in foreign.read_answer().json()], [1])
        self.await_parked(0)

    def test_a_client_that_goes_away_is_noticed(self):
        wires = [self.park() for _ in range(5)]
        self.await_parked(5)
        for wire in wires[:3]:
            wire.close()
        self.await_parked(2)
        for wire in wires[3:]:
            wire.close()
        self.await_parked(0)

    def test_a_commit_of_another_replica_is_seen_within_seconds(self):
        wire = self.park()
        self.await_parked(1)
        with Server(self.db.conninfo) as replica:
            replica.wait_ready()
            with Wire(replica.address) as there:
                there.send(self.head("POST", "/a2a", body=b'{"method":"x"}'))
                self.assertEqual(there.read_answer().status, 200)
            begun = time.monotonic()
            self.assertEqual([row["method"] for row in wire.read_answer().json()], ["x"])
            self.assertLess(time.monotonic() - begun, 5)

    def test_a_token_revoked_meanwhile_gets_no_rows(self):
        wire = self.park()
        self.await_parked(1)
        self.db.session.query(
            f"UPDATE workspace_auth_tokens SET revoked_at = now() WHERE workspace_id = '{self.workspace.id}'")
        time.sleep(5.5)  # a response within five seconds is still allowed
        self.db.session.query(
            f"SELECT publish_activity('{self.workspace.id}', ARRAY[gen_random_uuid()], ARRAY['error'], "
            "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)")
        self.assertEqual(wire.read_answer().status, 401)

    def test_a_thousand_polls_on_two_hundred_workspaces(self):
        workspaces = [self.db.add_workspace() for _ in range(200)]
        polls = [(workspace, self.park(workspace)) for workspace in workspaces for _ in range(5)]
        self.await_parked(1000)
        sessions = int(self.db.session.value("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"))
        self.assertLess(sessions, 25, "parked polls hold no connection")
        self.assertEqual(self.answered(polls, 0.2), [], "nobody was woken without a reason")

        random.Random(1).shuffle(workspaces)
        for workspace in workspaces:
            self.assertEqual(self.post("/a2a", MESSAGE, workspace).status, 200)
        for workspace, wire in polls:
            answer = wire.read_answer()
            self.assertEqual(answer.status, 200, answer)
            rows = answer.json()
            self.assertEqual([(row["workspace_id"], row["seq"]) for row in rows], [(workspace.id, 1)])
        self.await_parked(0)
        self.assertEqual(self.answered(polls, 0.2), [], "each was answered once")

    def answered(self, polls, within):
        with selectors.DefaultSelector() as selector:
            for _, wire in polls:
                selector.register(wire.socket, selectors.EVENT_READ)
            return selector.select(within)


class Stopping(InboxCase):
    def test_shutdown_answers_parked_polls(self):
        with Server(self.db.conninfo) as server:
            server.wait_ready()
            wires = []
            for _ in range(20):
                wire = self.enterContext(Wire(server.address, timeout=30))
                wire.send(self.head("GET", "/activity?since_seq=0&wait=50"))
                wires.append(wire)
            await_true(lambda: server.metrics().get("molecule_parked_polls") == 20, 10, "all are parked")
            begun = time.monotonic()
            self.assertEqual(server.stop(), 0)
            self.assertLess(time.monotonic() - begun, 8)
            self.assertEqual([(wire.read_answer().status, wire.is_closed()) for wire in wires], [(200, True)] * 20)


if __name__ == "__main__":
    unittest.main()
