"""The basis of the end-to-end tests: a database per test class, workspaces in it, and a cluster that may be
broken."""

import contextlib
import hashlib
import os
import pathlib
import secrets
import signal
import subprocess
import tempfile
import uuid

from http_wire import Wire, await_true, request_head
from pg_client import Session, format_conninfo, parse_conninfo

CLUSTER_SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "support" / "cluster"
TABLES = ("pending_uploads", "activity_logs", "upload_requests")


class Workspace:
    def __init__(self, identity, token):
        self.id = identity
        self.token = token

    @property
    def uploads(self):
        return f"/workspaces/{self.id}/chat/uploads"


class Database:
    """A new database on the shared test cluster, or on another one; dropped at the end."""

    def __init__(self, superuser=None, options=""):
        self._superuser = superuser or os.environ["RESTANTE_TEST_DB"]
        self.name = "e2e_" + secrets.token_hex(6)
        self._maintain(f"CREATE DATABASE {self.name} {options}")
        self.conninfo = format_conninfo({**parse_conninfo(self._superuser), "dbname": self.name})
        self.session = Session(self.conninfo)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.session.close()
        self._maintain(f"DROP DATABASE IF EXISTS {self.name} WITH (FORCE)")

    def reconnect(self):
        """Opens a new session, after the cluster was restarted."""
        self.session.close()
        self.session = Session(self.conninfo)

    def counts(self):
        """Row counts of every table that an upload writes; a rejection must not change them."""
        return {table: int(self.session.value(f"SELECT count(*) FROM {table}")) for table in TABLES}

    def add_workspace(self, mode="poll", url=None):
        """Written by SQL, so that rows that no client could register (mode NULL) are possible too."""
        made = Workspace(str(uuid.uuid4()), secrets.token_urlsafe(32))
        digest = hashlib.sha256(made.token.encode()).hexdigest()
        quoted = [f"'{text}'" if text is not None else "NULL" for text in (mode, url)]
        self.session.query(
            f"INSERT INTO workspaces (id, delivery_mode, url) VALUES ('{made.id}', {quoted[0]}, {quoted[1]});"
            f"INSERT INTO workspace_auth_tokens (workspace_id, token_hash, prefix)"
            f" VALUES ('{made.id}', '\\x{digest}', '{made.token[:8]}')")
        return made

    def files(self, workspace):
        """(file_id, filename, mimetype, size, sha256 of the stored bytes, original_name), in feed order. The
        hash is computed from the stored bytes, not read from the column of that name."""
        rows = self.session.query(
            "SELECT u.file_id, u.filename, u.mimetype, u.size_bytes, encode(sha256(u.content), 'hex'), "
            "u.original_name FROM pending_uploads u JOIN activity_logs a ON a.id = u.activity_id "
            f"WHERE u.workspace_id = '{workspace.id}' ORDER BY a.seq")
        return [(row[0], row[1], row[2], int(row[3]), row[4], row[5]) for row in rows]

    def file_ids(self, workspace):
        """In feed order, wherever their bytes are."""
        return [row[0] for row in self.session.query(
            "SELECT u.file_id FROM pending_uploads u JOIN activity_logs a ON a.id = u.activity_id "
            f"WHERE u.workspace_id = '{workspace.id}' ORDER BY a.seq")]

    def _maintain(self, sql):
        with Session(self._superuser) as session:
            session.query(sql)


class Cluster:
    """A separate PostgreSQL, for tests that stop, freeze or kill it."""

    def __init__(self):
        self.folder = tempfile.mktemp(prefix="restante-e2e-cluster-", dir="/tmp")
        self._script("start")
        self.conninfo = f"host={self.folder} port=5432 user=postgres dbname=postgres"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ProcessLookupError, FileNotFoundError):
            self.thaw()
        self._script("stop")

    def query(self, sql):
        with Session(self.conninfo) as session:
            return session.query(sql)

    def stop(self, mode="immediate"):
        self._pg_ctl("stop", "-m", mode)

    def start(self):
        self._pg_ctl("start", "-l", f"{self.folder}/log")

    def kill(self):
        """kill -9 for the postmaster and all of its children, as in a power failure."""
        postmaster = self.postmaster()
        os.kill(postmaster, signal.SIGSTOP)  # or it would start more children meanwhile
        victims = [*self._children(), postmaster]
        for victim in victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
        # A new postmaster refuses to start while a child of the old one still holds the shared memory, and as
        # long as the old pid is in use, which it is until the zombie is reaped: hence the lock files.
        await_true(lambda: not any(is_running(victim) for victim in victims), 20, "PostgreSQL is dead")
        for lock in (f"{self.folder}/data/postmaster.pid", f"{self.folder}/.s.PGSQL.5432.lock"):
            os.remove(lock)

    def alive(self):
        try:
            return is_running(self.postmaster())
        except (FileNotFoundError, ValueError):
            return False

    def freeze(self):
        self._signal_all(signal.SIGSTOP)

    def thaw(self):
        self._signal_all(signal.SIGCONT)

    def postmaster(self):
        with open(f"{self.folder}/data/postmaster.pid") as pid:
            return int(pid.readline())

    def _signal_all(self, number):
        """The postmaster first, so that it starts no new backend, then all of its children."""
        os.kill(self.postmaster(), number)
        for child in self._children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, number)

    def _children(self):
        postmaster = self.postmaster()
        with open(f"/proc/{postmaster}/task/{postmaster}/children") as children:
            return [int(child) for child in children.read().split()]

    def _script(self, command):
        subprocess.run([CLUSTER_SCRIPT, command, self.folder], check=True, timeout=180)

    def _pg_ctl(self, *words):
        run_as_postgres("pg_ctl", "-D", f"{self.folder}/data", "-w", "-t", "50", *words)


def run_as_postgres(program, *words):
    """One of PostgreSQL's own programs. They refuse to run as root."""
    folder = os.environ.get("RESTANTE_PG_BIN", "/usr/lib/postgresql/15/bin")
    command = [f"{folder}/{program}", *words]
    if os.geteuid() == 0:
        command = ["runuser", "-u", "postgres", "--", *command]
    subprocess.run(command, check=True, timeout=60, cwd="/", stdout=subprocess.DEVNULL)


def is_running(pid):
    """Whether there is such a process; a zombie does not count."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def upload_head(workspace, boundary, length=None, headers=()):
    """The head of an upload; chunked if there is no length."""
    if length is None:
        framing = ("Transfer-Encoding", "chunked")
    else:
        framing = ("Content-Length", str(length))
    return request_head("POST", workspace.uploads, [
        ("Host", "test"), ("Authorization", f"Bearer {workspace.token}"),
        ("Content-Type", f"multipart/form-data; boundary={boundary}"), framing, *headers])


def upload(address, workspace, body, boundary, headers=(), timeout=30):
    """One upload on a new connection. Sends while the server reads, and reads the response in any case."""
    with Wire(address, timeout=timeout) as wire:
        wire.send_what_is_taken([upload_head(workspace, boundary, len(body), headers), body])
        return wire.read_answer()
