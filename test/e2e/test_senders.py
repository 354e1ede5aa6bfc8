#!/usr/bin/env python3
"""What a sender learns of its files, on any server: all of its own, nothing of anybody else's."""

import hashlib
import itertools
import unittest
import uuid

from forms import form, part
from grant_case import GrantCase
from http_wire import Wire, await_true
from identity_case import request
from testbed import Workspace
from websocket_client import EventStream, Listener, WebSocket


class SendersCase(GrantCase):
    def stage(self, bearer, text, server=None):
        answer = self.send(bearer, form(part(text, "a.txt", "text/plain")), server)
        self.assertEqual(answer.status, 200, answer)
        return answer.json()["files"][0]["file_id"]

    def receipt(self, bearer, file, query="", server=None):
        return self.call("GET", f"{self.path}/uploads/{file}{query}", bearer, server=server)

    def fetch(self, file, server=None):
        answer = self.call("GET", f"{self.path}/pending-uploads/{file}/content", self.token, server=server)
        self.assertEqual(answer.status, 200, answer)

    def ack(self, file, text, server=None):
        said = {"sha256": hashlib.sha256(text.encode()).hexdigest()}
        return self.call("POST", f"{self.path}/pending-uploads/{file}/ack", self.token, said, server=server)


class Matrix(SendersCase):
    def test_every_sender_and_every_file(self):
        senders = {"grant": self.grant()["grant"], "another grant": self.grant()["grant"],
                   "upload": self.mint("upload")["auth_token"], "another upload": self.mint("upload")["auth_token"]}
        everybody = {"full": self.token, "another full": self.mint()["auth_token"], "admin": self.admin}
        servers = itertools.cycle((self.server, self.second))
        files = {name: self.stage(bearer, name, next(servers)) for name, bearer in {**senders, **everybody}.items()}
        unknown = self.receipt(senders["grant"], uuid.uuid4())
        for (whose, file), (who, bearer) in itertools.product(files.items(), {**senders, **everybody}.items()):
            for query in ("", "?wait=20&until=fetched"):
                if query and (whose == who or who in everybody):
                    continue  # it would wait
                with self.subTest(file=whose, asked_by=who, query=query):
                    answer = self.receipt(bearer, file, query, next(servers))
                    if who in everybody or whose == who:
                        self.assertEqual((answer.status, answer.json()["state"]), (200, "staged"), answer)
                    else:
                        self.assertEqual((answer.status, answer.body), (404, unknown.body), "as if it were not there")
        read = self.mint("read")["auth_token"]
        self.assert_code(self.receipt(read, files["full"]), 403, "insufficient_scope")

    def test_after_the_file_itself_is_gone(self):
        mine, other = self.mint("upload")["auth_token"], self.mint("upload")["auth_token"]
        file = self.stage(mine, "x")
        self.assertEqual(self.ack(file, "x").status, 200)
        self.db.session.query(f"DELETE FROM pending_uploads WHERE file_id = '{file}'")
        self.assertEqual(self.receipt(mine, file).json()["state"], "acked")
        self.assert_code(self.receipt(other, file), 404, "receipt_not_found")


class OneLife(SendersCase):
    """A grant from its link to its end: minted on one server, used on the other, heard on both."""

    def listeners(self, bearer):
        """On both servers, by socket and by stream."""
        sources = []
        for server in (self.server, self.second):
            sources.append(self.enterContext(WebSocket(server.address, token=bearer)))
            sources.append(self.enterContext(EventStream(server.address, Workspace(self.id, bearer))))
        return [self.enterContext(Listener(source)) for source in sources]

    def heard(self, listener):
        return [(event["event"], event["payload"]["file_id"]) for *_, event in listener.heard]

    def park(self, bearer, file, until, server):
        def parked():
            return server.metrics().get("molecule_parked_receipts", 0)
        before = parked()
        wire = self.enterContext(Wire(server.address, timeout=60))
        wire.send(request("GET", f"{self.path}/uploads/{file}?wait=50&until={until}", bearer))
        await_true(lambda: parked() == before + 1, 30, "the request is parked")
        return wire

    def test_staged_fetched_acked_revoked(self):
        minted, other = self.grant(max_requests=2), self.grant()
        grant = minted["grant"]
        file = self.stage(grant, "hello", self.second)
        strange = self.stage(other["grant"], "not yours")
        mine, theirs = self.listeners(grant), self.listeners(other["grant"])
        waiting = {until: [self.park(grant, file, until, server) for server in (self.server, self.second)]
                   for until in ("fetched", "acked")}

        self.fetch(file, self.second)
        self.assertEqual([wire.read_answer().json()["state"] for wire in waiting["fetched"]], ["fetched"] * 2)
        self.assert_code(self.ack(file, "other bytes"), 409, "digest_mismatch")
        self.assertEqual(self.receipt(grant, file, server=self.second).json()["state"], "fetched")
        self.assertEqual(self.ack(file, "hello").status, 200)
        answers = [wire.read_answer().json() for wire in waiting["acked"]]
        self.assertEqual([answer["state"] for answer in answers], ["acked"] * 2)
        self.assertEqual(self.ack(strange, "not yours").status, 200)

        expected = [("UPLOAD_FETCHED", file), ("UPLOAD_ACKED", file)]
        for listener in mine:
            await_true(lambda: len(listener.heard) >= 2, 30, "both events")
        for listener in theirs:
            await_true(lambda: listener.heard, 30, "the event of its own file")
            self.assertEqual(self.heard(listener), [("UPLOAD_ACKED", strange)])
        self.assertEqual([self.heard(listener) for listener in mine], [expected] * 4, "each once, in order")
        self.assertEqual(mine[0].heard[1][2]["payload"]["at"], answers[0]["acked_at"])

        one = f"{self.path}/upload-grants/{minted['grant_id']}"
        self.assertEqual(self.call("DELETE", one, self.token, server=self.second).status, 200)
        for listener in mine:
            await_true(lambda: listener.ended, 30, "its listeners are closed")
        for server in (self.server, self.second):
            await_true(lambda: self.receipt(grant, file, server=server).status == 401, 30, "and it is a wrong token")
            self.assert_invalid(self.send(grant, server=server))
        self.assertEqual(self.receipt(self.token, file).json(), answers[0], "the owner still knows")
        self.assertEqual(self.listed(minted)["used"], {"requests": 1, "files": 1, "bytes": 5})
        self.assertTrue(all(listener.ended is None for listener in theirs))


if __name__ == "__main__":
    unittest.main()
