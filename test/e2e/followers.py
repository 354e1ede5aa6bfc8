"""Clients that want every row of one workspace exactly once, whatever happens to their server: they reconnect
and resume where they stopped."""

import threading
import time

from http_wire import Wire, request_head
from websocket_client import Closed, EventStream

LOST = (OSError, ValueError, IndexError, Closed)  # the connection was lost, or ended within a response


class Follower(threading.Thread):
    """`rows` has (activity id, seq, workspace id) in order of arrival. Ends when there are enough."""

    def __init__(self, server, workspace, enough, within=40):
        super().__init__(daemon=True)
        self.server, self.workspace, self.enough = server, workspace, enough
        self.rows = []
        self.begun = threading.Event()  # has connected: it observes all later commits
        self._end = time.monotonic() + within

    def run(self):
        while len(self.rows) < self.enough and time.monotonic() < self._end:
            try:
                self.follow()
            except LOST:
                time.sleep(0.05)

    def note(self, row):
        self.rows.append((row["id"], row["seq"], self.workspace.id))


class Poller(Follower):
    def follow(self):
        with Wire(self.server.address) as wire:
            self.begun.set()
            while len(self.rows) < self.enough:
                after = f"since_id={self.rows[-1][0]}" if self.rows else "since_seq=0"
                target = f"/workspaces/{self.workspace.id}/activity?{after}&limit=2&wait=1"
                wire.send(request_head("GET", target, [("Host", "test"),
                                                       ("Authorization", f"Bearer {self.workspace.token}")]))
                answer = wire.read_answer()
                if answer.status != 200 or time.monotonic() > self._end:
                    return
                for row in answer.json():
                    self.note(row)


class StreamReader(Follower):
    def follow(self):
        last = self.rows[-1][1] if self.rows else 0
        with EventStream(self.server.address, self.workspace, last_event_id=last) as stream:
            if stream.status != 200:
                raise ValueError(f"{stream.status} to an event stream")
            self.begun.set()
            while len(self.rows) < self.enough:
                self.note(stream.next_event(within=20)["payload"])
