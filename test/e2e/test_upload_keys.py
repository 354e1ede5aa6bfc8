#!/usr/bin/env python3
"""Idempotency-Key: one upload, however often and to whichever server it is sent."""

import threading
import unittest

from forms import PLAIN, form, noise, part
from http_wire import Wire, await_true
from server_process import Server
from testbed import upload, upload_head
from upload_case import UploadCase

MIB = 1024 * 1024


class Keys(UploadCase):
    def post(self, workspace, body, key, server=None):
        return upload((server or self.server).address, workspace, body, PLAIN, [("Idempotency-Key", key)])

    def test_the_first_answer_again(self):
        for size in (10, 3 * MIB):
            with self.subTest(size=size):
                workspace = self.db.add_workspace()
                body = form(part(noise(size, size), "a b.bin"), part("two", "2"))
                first = self.post(workspace, body, "key-1")
                self.assertEqual(first.status, 200, first)
                self.assertNotIn("idempotency-replayed", first.headers)
                counts = self.db.counts()
                again = self.post(workspace, body, "key-1")
                self.assertEqual((again.status, again.body), (200, first.body))
                self.assertEqual(again.headers["idempotency-replayed"], "true")
                self.assertEqual(self.db.counts(), counts)
                self.assertEqual(len(self.db.files(workspace)), 2)

    def test_other_files_under_the_same_key(self):
        workspace, key = self.db.add_workspace(), "!" * 128
        self.assertEqual(self.post(workspace, form(part("x", "n", "a/b")), key).status, 200)
        counts = self.db.counts()
        for other in (part("y", "n", "a/b"), part("x", "m", "a/b"), part("x", "n", "a/c"),
                      part(noise(MIB, 1), "n", "a/b")):
            answer = self.post(workspace, form(other), key)
            self.assertEqual((answer.status, answer.json()["code"]), (422, "idempotency_key_reused"))
        self.assertEqual(self.post(workspace, form(part("x", "n", "a/b"), part("z")), key).status, 422)
        self.assertEqual(self.db.counts(), counts)

    def test_keys_of_two_workspaces_are_strangers(self):
        for workspace in (self.db.add_workspace(), self.db.add_workspace()):
            answer = self.post(workspace, form(part("x")), "shared")
            self.assertEqual(answer.status, 200)
            self.assertNotIn("idempotency-replayed", answer.headers)

    def test_still_running(self):
        workspace, body = self.db.add_workspace(), form(part(noise(MIB, 2)))
        with Wire(self.server.address) as slow:
            slow.send(upload_head(workspace, PLAIN, len(body), [("Idempotency-Key", "slow")]) + body[:1000])
            answer = await_true(lambda: self.running(workspace, body), 5, "the key is seen to be running")
            self.assertEqual(answer.headers["retry-after"], "1")
            self.assertEqual(answer.json()["code"], "idempotency_key_running")
            slow.send(body[1000:])
            first = slow.read_answer()
        self.assertEqual(first.status, 200, first)
        again = self.post(workspace, body, "slow")
        self.assertEqual((again.status, again.body), (200, first.body))

    def running(self, workspace, body):
        """Sends an empty form under the same key; only a running key gives 409, the form alone gives 400."""
        answer = self.post(workspace, b"", "slow")
        self.assertIn(answer.status, (400, 409))
        return answer if answer.status == 409 else None

    def test_free_again_after_a_failure(self):
        workspace = self.db.add_workspace()
        self.assertEqual(self.post(workspace, b"nonsense", "retry").status, 400)
        with Wire(self.server.address) as wire:
            wire.send(upload_head(workspace, PLAIN, 1000, [("Idempotency-Key", "retry")]) + b"--b\r\n")
        await_true(lambda: self.server.client_connections() == 0, 5, "the server saw that the client left")
        answer = self.post(workspace, form(part("x")), "retry")
        self.assertEqual(answer.status, 200, answer)
        self.assertNotIn("idempotency-replayed", answer.headers)

    def test_two_servers_and_many_senders_at_once(self):
        """One key, 2 servers, 12 senders: one stores, the others get its response or are asked to retry."""
        with Server(self.db.conninfo) as second:
            second.wait_ready()
            for size in (100, 2 * MIB):
                workspace, body = self.db.add_workspace(), form(part(noise(size, size)))
                answers, guard = [], threading.Lock()

                def send(server):
                    answer = self.post(workspace, body, "contended", server)
                    with guard:
                        answers.append(answer)

                targets = [self.server, second] * 6
                senders = [threading.Thread(target=send, args=(server,)) for server in targets]
                for sender in senders:
                    sender.start()
                for sender in senders:
                    sender.join()
                with self.subTest(size=size):
                    self.assertEqual(len(answers), 12)
                    self.assertLessEqual({answer.status for answer in answers}, {200, 409})
                    good = [a for a in answers if a.status == 200]
                    stored = [a for a in good if "idempotency-replayed" not in a.headers]
                    self.assertEqual(len(stored), 1)
                    self.assertEqual({a.body for a in good}, {stored[0].body})
                    self.assertTrue(all(a.headers["retry-after"] == "1" for a in answers if a.status == 409))
                    self.assertEqual(len(self.db.files(workspace)), 1)
                    for server in (self.server, second):
                        self.assertEqual(self.post(workspace, body, "contended", server).body, stored[0].body)


if __name__ == "__main__":
    unittest.main()
