"""Three machines with etcd, Patroni and PostgreSQL, brought up from the files in docs/cluster."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from http_wire import await_true
from pg_client import DatabaseError, Session, format_conninfo

DOCS = pathlib.Path(__file__).resolve().parents[3] / "docs/cluster"
PASSWORD = "secret"
START = 90  # seconds for a machine to come up, on a busy one
# What the files leave open, and where a test may write. A small machine runs all three, so less memory.
BUFFERS = ("shared_buffers: 1GB", "shared_buffers: 64MB")


def fill_in(name, network, changes):
    """The text of docs/cluster/NAME for this network."""
    text = (DOCS / name).read_text()
    for what in ("POSTGRES", "REPLICATOR", "REWINDER", "RESTANTE"):
        text = text.replace(f"PASSWORD_OF_{what}", PASSWORD)
    for old, new in {**changes, "10.0.0.": network.prefix}.items():
        text = text.replace(old, new)
    return text


class Node:
    """One of the three."""

    def __init__(self, machine, name, network, folder):
        self.machine, self.name, self._network = machine, name, network
        self.folder = os.path.join(folder, name)
        os.mkdir(self.folder)
        changes = {"THIS_NAME": name, "THIS_ADDRESS": machine.address, "/var/lib/etcd": self.folder,
                   "/var/lib/postgresql/15": self.folder, "/var/lib/postgresql": self.folder,
                   "/var/run/postgresql": self.folder, BUFFERS[0]: BUFFERS[1]}
        self._etcd = dict(line.split("=", 1) for line in fill_in("etcd.env", network, changes).splitlines()
                          if line and not line.startswith("#"))
        self._config = os.path.join(self.folder, "patroni.yml")
        with open(self._config, "w") as out:
            out.write(fill_in("patroni.yml", network, changes))
        for path in (self.folder, self._config):
            shutil.chown(path, "postgres", "postgres")

    def start(self):
        self.start_etcd()
        self._spawn("patroni", ["/usr/bin/patroni", self._config], {"PYTHONDONTWRITEBYTECODE": "1"})

    def start_etcd(self):
        self._spawn("etcd", ["/usr/bin/etcd"], self._etcd)

    def _spawn(self, name, words, environment):
        with open(os.path.join(self.folder, f"{name}.log"), "ab") as log:
            subprocess.Popen(self.machine.command(*words, user="postgres"), stdout=log, stderr=log, cwd="/",
                             stdin=subprocess.DEVNULL, start_new_session=True,
                             env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", **environment})

    def log_tail(self):
        with contextlib.suppress(OSError), open(os.path.join(self.folder, "patroni.log")) as log:
            return log.read()[-1500:]
        return ""

    def role(self):
        """What Patroni says about it: the JSON of /patroni, or {} if it does not answer."""
        try:
            with urllib.request.urlopen(f"http://{self.machine.address}:8008/patroni", timeout=1) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:
            with contextlib.suppress(ValueError):
                return json.loads(refused.read())
        except (OSError, ValueError):
            pass
        return {}

    def is_primary(self):
        said = self.role()
        return said.get("role") in ("master", "primary") and said.get("state") == "running"

    def is_synchronous(self):
        try:
            with urllib.request.urlopen(f"http://{self.machine.address}:8008/synchronous", timeout=1):
                return True
        except OSError:
            return False

    def conninfo(self, user="postgres", database="restante"):
        return format_conninfo({"host": self.machine.address, "port": "5432", "user": user, "password": PASSWORD,
                                "dbname": database})

    def postgres_pids(self):
        """The postmaster first."""
        with open(f"{self.folder}/restante/postmaster.pid") as file:
            postmaster = int(file.readline())
        with open(f"/proc/{postmaster}/task/{postmaster}/children") as children:
            return [postmaster, *map(int, children.read().split())]

    def signal_postgres(self, number):
        for pid in self.postgres_pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


class Patroni(contextlib.ExitStack):
    def __init__(self, network):
        super().__init__()
        with contextlib.ExitStack() as made:
            self.folder = tempfile.mkdtemp(prefix="restante-cluster-", dir="/tmp")
            os.chmod(self.folder, 0o711)
            made.callback(shutil.rmtree, self.folder, ignore_errors=True)
            self._network = network
            self.nodes = [Node(network.machine(10 + n), f"db{n}", network, self.folder) for n in (1, 2, 3)]
            for node in self.nodes:
                made.callback(node.machine.signal, signal.SIGKILL)
            for node in self.nodes:
                node.start()
            self.await_whole()
            self._create_database()
            self.push(made.pop_all().__exit__)

    def primary(self):
        return next((node for node in self.nodes if node.is_primary()), None)

    def synchronous(self):
        return next((node for node in self.nodes if node.is_synchronous()), None)

    def await_whole(self, within=2 * START):
        """One primary, two that stream from it, and one of these that Patroni knows to be synchronous."""
        try:
            await_true(self._is_whole, within, "the cluster is whole")
        except AssertionError as late:
            raise AssertionError(f"{late}: " + "\n".join(
                f"{node.name} {node.role()}\n{node.log_tail()}" for node in self.nodes)) from late

    def _is_whole(self):
        said = [node.role() for node in self.nodes]
        leaders = [each for each in said if each.get("role") in ("master", "primary")]
        if len(leaders) != 1 or any(each.get("state") != "running" for each in said):
            return False
        streaming = [peer for peer in leaders[0].get("replication", []) if peer.get("state") == "streaming"]
        return len(streaming) == 2 and self.synchronous() is not None

    def session(self, within=60, timeout=30):
        """On the primary, as superuser; waits until there is one that can be written to."""
        end = time.monotonic() + within
        while True:
            for node in self.nodes:
                with contextlib.suppress(OSError, DatabaseError):
                    session = Session(node.conninfo(), timeout=timeout)
                    if session.value("SELECT pg_is_in_recovery()") == "f":
                        return session
                    session.close()
            if time.monotonic() > end:
                raise AssertionError("no primary")
            time.sleep(0.1)

    def switch_over(self):
        leader, candidate = self.primary(), self.synchronous()
        body = json.dumps({"leader": leader.name, "candidate": candidate.name}).encode()
        request = urllib.request.Request(f"http://{leader.machine.address}:8008/switchover", body,
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60):
            return candidate

    def _create_database(self):
        with Session(self.primary().conninfo(database="postgres")) as session:
            for statement in fill_in("create.sql", self._network, {}).split(";\n"):
                if statement.strip():
                    session.query(statement)
