"""Base class of the upload tests: one database, one server and one workspace per class."""

import hashlib

from forms import PLAIN
from http_wire import await_true
from server_case import ServerCase
from testbed import upload


class UploadCase(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.workspace = cls.db.add_workspace()

    def send(self, body, boundary=PLAIN, workspace=None, headers=()):
        return upload(self.server.address, workspace or self.workspace, body, boundary, headers)

    def assert_stored(self, answer, contents, workspace):
        """The response lists these contents in order, and exactly these bytes are in the database, each with
        its activity row."""
        self.assertEqual(answer.status, 200, answer)
        told = answer.json()["files"]
        digests = [hashlib.sha256(content).hexdigest() for content in contents]
        self.assertEqual([(file["size"], file["sha256"]) for file in told],
                         [(len(content), digest) for content, digest in zip(contents, digests)])
        stored = self.db.files(workspace)
        self.assertEqual([row[0] for row in stored], [file["file_id"] for file in told])
        self.assertEqual([row[3:5] for row in stored], [(len(c), d) for c, d in zip(contents, digests)])
        for file, row in zip(told, stored):
            names = (file["name"], file["mimeType"], file["original_name"])
            self.assertEqual(names, (row[1], row[2], row[5]))
            self.assertEqual(file["uri"], f"platform-pending:{workspace.id}/{file['file_id']}")
        return told

    def assert_quiet(self, within=10):
        """Nothing is left of past requests: no connection, no temporary file, no open transaction."""
        await_true(lambda: self.server.client_connections() == 0, within, "clients' connections closed")
        await_true(lambda: not self.server.spool_files(), within, "the spool is empty")
        await_true(lambda: not self.open_transactions(), within, "no transaction is open")

    def open_transactions(self):
        """Sessions of the server that are inside a transaction, with their last statement."""
        return self.db.session.query(
            "SELECT state, query FROM pg_stat_activity WHERE datname = current_database() AND "
            "application_name LIKE 'restante%' AND state LIKE 'idle in transaction%'")
