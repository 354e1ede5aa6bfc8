"""Base class of the event tests: a database, several servers on it, and ways to create rows."""

import itertools
import tempfile
import unittest

import forms
from http_wire import Wire, await_true, request_head
from server_process import Server
from testbed import Database, upload_head
from websocket_client import EventStream, Listener, WebSocket

ADMIN = "admin-token-of-the-event-tests"
ORIGIN = "https://canvas.example"
FORM = forms.form(forms.part(b"a few bytes"))


class EventsCase(unittest.TestCase):
    servers = 1
    flags = ()
    binary = None  # the one under test

    @classmethod
    def setUpClass(cls):
        secret = cls.enterClassContext(tempfile.NamedTemporaryFile("w", suffix=".token"))
        secret.write(ADMIN)
        secret.flush()
        cls.db = cls.enterClassContext(Database())
        cls.replicas = [cls.enterClassContext(Server(
            cls.db.conninfo, "--threads", "2", "--db-connections", "8", "--admin-token-file", secret.name,
            "--allowed-origin", ORIGIN, *cls.flags, binary=cls.binary)) for _ in range(cls.servers)]
        for replica in cls.replicas:
            replica.wait_ready()

    def setUp(self):
        self.workspace = self.db.add_workspace()

    def websocket(self, replica, token=None, **how):
        """An open socket, closed at the end of the test."""
        opened = self.enterContext(WebSocket(replica.address, token or self.workspace.token, **how))
        self.assertEqual(opened.answer.status, 101, opened.answer.headers)
        return opened

    def stream(self, replica, workspace=None, **how):
        opened = self.enterContext(EventStream(replica.address, workspace or self.workspace, **how))
        self.assertEqual(opened.status, 200)
        return opened

    def listener(self, source, on_event=None):
        return self.enterContext(Listener(source, on_event))

    def uploader(self, replica):
        return self.enterContext(Uploader(replica.address))

    def publish(self, workspace, rows=1, body_bytes=0):
        """Rows that no server knows of: committed by SQL, without a NOTIFY."""
        self.db.session.query(
            f"SELECT publish_activity('{workspace.id}', ids, types, '{{}}', '{{}}', '{{}}', '{{}}', bodies,"
            " '{}', '{}', '{}', '{}', '{}') FROM (SELECT array_agg(gen_random_uuid()) AS ids, "
            f"array_agg('agent_log'::text) AS types, array_agg(to_json(repeat('x', {body_bytes}))::text) AS bodies "
            f"FROM generate_series(1, {rows})) AS made")

    def seq(self, workspace):
        return int(self.db.session.value(
            f"SELECT coalesce(max(seq), 0) FROM activity_heads WHERE workspace_id = '{workspace.id}'"))

    def await_heard(self, listener, count, within=30):
        await_true(lambda: len(listener.heard) >= count or listener.ended, within,
                   f"{count} events, of which {len(listener.heard)} came")
        self.assertIsNone(listener.ended)


class Uploader:
    """Uploads sequentially on one connection."""

    def __init__(self, address):
        self._wire = Wire(address)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._wire.close()

    def upload(self, workspace, body=FORM):
        self._wire.send(upload_head(workspace, forms.PLAIN, len(body)) + body)
        return self._wire.read_answer()


class Reader:
    """Sends GETs sequentially on one connection."""

    def __init__(self, address, token):
        self._wire = Wire(address)
        self._token = token

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._wire.close()

    def get(self, target):
        self._wire.send(request_head("GET", target, [("Host", "test"), ("Authorization", f"Bearer {self._token}")]))
        return self._wire.read_answer()


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def consecutive(first, count):
    return list(itertools.islice(itertools.count(first), count))
