"""Base class of the identity tests: a database, a server with an admin token, calls with tokens."""

import itertools
import json
import secrets
import tempfile
import unittest
import uuid

import told_tokens
from http_wire import Wire, request_head
from server_process import Server
from testbed import Database

_addresses = itertools.count(1)


def own_address():
    """A source address that no other test uses, so that their wrong tokens are not counted together."""
    number = next(_addresses)
    return f"127.0.{1 + number // 200}.{1 + number % 200}"


def request(method, target, token=None, body=None, headers=()):
    """The bytes of one request; the body is encoded as JSON unless it is bytes already."""
    fields = [("Host", "test"), *headers]
    if token is not None:
        fields.append(("Authorization", f"Bearer {token}"))
    if body is None:
        return request_head(method, target, fields)
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields += [("Content-Type", "application/json"), ("Content-Length", str(len(data)))]
    return request_head(method, target, fields) + data


def call(server, method, target, token=None, body=None, headers=(), source=None):
    """One request on a new connection."""
    with Wire(server.address, source=source) as wire:
        wire.send(request(method, target, token, body, headers))
        return wire.read_answer()


def tokens_path(workspace):
    return f"/workspaces/{workspace}/tokens"


def poll_workspace(workspace):
    return {"id": workspace, "delivery_mode": "poll", "name": "laptop", "agent_card": {"skills": ["files"]}}


class IdentityCase(unittest.TestCase):
    flags = ("--threads", "2")
    binary = None  # the one under test

    @classmethod
    def setUpClass(cls):
        cls.admin = told_tokens.remember(secrets.token_urlsafe(24))
        cls._admin_file = cls.enterClassContext(tempfile.NamedTemporaryFile("w", prefix="restante-admin-"))
        cls._admin_file.write(cls.admin + "\n")
        cls._admin_file.flush()
        cls.db = cls.enterClassContext(Database())
        cls.server = cls.start_server(*cls.flags)

    @classmethod
    def start_server(cls, *flags):
        """A server on the database of this class, stopped with the class."""
        server = Server(cls.db.conninfo, "--admin-token-file", cls._admin_file.name, *flags, binary=cls.binary)
        return cls.enterClassContext(server).wait_ready()

    def setUp(self):
        self.source = own_address()

    def call(self, method, target, token=None, body=None, headers=(), server=None):
        return call(server or self.server, method, target, token, body, headers, self.source)

    def register(self, workspace=None):
        """A workspace that registers for the first time: (id, token)."""
        workspace = workspace or str(uuid.uuid4())
        answer = self.call("POST", "/registry/register", body=poll_workspace(workspace))
        self.assertEqual(answer.status, 200, answer)
        return workspace, answer.json()["auth_token"]

    def status_of(self, workspace, token, server=None):
        """The status of the workspace's token list for this token."""
        return self.call("GET", tokens_path(workspace), token, server=server).status

    def assert_invalid(self, answer):
        self.assertEqual((answer.status, answer.headers.get("www-authenticate")), (401, "Bearer"), answer)
        self.assertEqual(answer.json(), {"error": "invalid workspace auth token", "code": "invalid_token"})
