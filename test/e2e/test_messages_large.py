"""Messages of megabytes: what they cost, and what live clients get of them."""

import threading
import unittest

from http_wire import await_true
from messages_case import MessagesCase, message, text
from server_process import release_binary

MIB = 1 << 20


def large(mebibytes, words="large"):
    return message(text(words), {"kind": "file", "file": {"bytes": "A" * (mebibytes * MIB), "name": "b"}})


class Large(MessagesCase):
    servers = 2

    def test_one_of_16_mib_is_stored_and_polled_whole(self):
        said = large(15)
        for replica in self.replicas:
            self.assertEqual(self.post("/a2a", said, replica=replica).status, 200)
        (row,) = self.get("/activity?since_seq=0&include=peer_info", replica=self.replicas[1]).json()
        self.assertEqual(row["request_body"]["params"]["message"]["parts"], said["params"]["message"]["parts"])
        for replica in self.replicas:
            await_true(lambda: self.memory_in_use(replica) == 0, 10, "all memory is given back")

    def memory_in_use(self, replica):
        return sum(value for name, value in replica.metrics().items() if name.startswith("molecule_body_memory_bytes"))

    def test_live_clients_keep_their_place_without_the_body(self):
        sockets = [self.websocket(replica) for replica in self.replicas]
        streams = [self.stream(replica) for replica in self.replicas]
        for i in range(3):
            self.assertEqual(self.post("/a2a", large(4, f"large {i}"), replica=self.replicas[i % 2]).status, 200)
        self.post("/a2a", message(text("small")))
        for source in (*sockets, *streams, self.stream(self.replicas[1], last_event_id=0)):
            rows = []
            while len(rows) < 4:
                event = source.next_event()
                if event["event"] == "ACTIVITY_LOGGED":
                    rows.append(event["payload"])
                else:
                    self.assertEqual(event["payload"]["content"], "small")
            self.assertEqual([row["seq"] for row in rows], [1, 2, 3, 4])
            self.assertEqual([row.get("bodies_omitted") for row in rows], [True, True, True, None])
            self.assertTrue(all("request_body" not in row for row in rows[:3]))
        # The row says where the body is: in the feed.
        (row,) = self.get(f"/activity?since_seq={rows[0]['seq'] - 1}&limit=1").json()
        self.assertEqual(len(row["request_body"]["params"]["message"]["parts"][1]["file"]["bytes"]), 4 * MIB)
        shown = self.get("/chat-history").json()["messages"]
        self.assertEqual([(one["content"], one.get("content_omitted")) for one in shown],
                         [("", True)] * 3 + [("small", None)])


class Memory(MessagesCase):
    binary = release_binary()  # a sanitizer keeps memory that was freed

    def test_millions_of_values_cost_no_more_than_their_text(self):
        server = self.replicas[0]
        self.post("/a2a", large(15))  # buffers have their size now
        before = peak_memory(server)
        body = b'{"method":"m","params":{"message":{"messageId":"v","parts":[' + b"1," * (7 * MIB) + b"1]}}}"
        self.assertEqual(self.post("/a2a", body).status, 200)
        keys = b",".join(b'"%x":1' % i for i in range(MIB))
        self.assertEqual(self.post("/a2a", b'{"method":"m","params":{' + keys + b"}}").status, 200)
        self.assertLess(peak_memory(server) - before, 64 * MIB)

    def test_many_at_once_are_stored_or_told_to_come_again(self):
        statuses = []

        def send(i):
            statuses.append(self.post("/a2a", large(12), workspace=targets[i], replica=self.replicas[0]).status)
        targets = [self.db.add_workspace() for _ in range(8)]
        before = peak_memory(self.replicas[0])
        senders = [threading.Thread(target=send, args=(i,)) for i in range(8)]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        self.assertEqual(set(statuses) - {200, 503}, set())
        self.assertIn(200, statuses)
        stored = self.db.session.value("SELECT count(*) FROM activity_logs WHERE workspace_id IN "
                                       f"({', '.join(repr(target.id) for target in targets)})")
        self.assertEqual(int(stored), statuses.count(200))
        self.assertLess(peak_memory(self.replicas[0]) - before, 256 * MIB)


def peak_memory(server):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    raise AssertionError("no VmHWM")


if __name__ == "__main__":
    unittest.main()
