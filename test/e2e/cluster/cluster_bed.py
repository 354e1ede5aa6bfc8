"""The soak's clients over two servers on a replicated PostgreSQL: one server is given three hosts, the other goes
through haproxy."""

import contextlib
import itertools
import os
import shutil
import socket
import subprocess
import tempfile
import threading

from bed import WORKSPACES, Bed
from http_wire import await_true
from journal import Journal
from network import Network
from patroni import PASSWORD, Patroni, fill_in
from server_process import BINARY, Server
from stores import STORES
from testbed import Database

HOSTS = "host=10.0.0.11,10.0.0.12,10.0.0.13 port=5432"
THROUGH_HAPROXY = "host=127.0.0.1 port=5439"


class ClusterServer(Server):
    """A server on a machine of its own, started with docs/cluster/restante.conf."""

    def __init__(self, machine, network, binary, changes):
        self._folder = tempfile.TemporaryDirectory(prefix="restante-e2e-")
        self._log = open(os.path.join(self._folder.name, "log"), "w+b")
        self.machine, self.binary = machine, binary or BINARY
        self.spool_dir = os.path.join(self._folder.name, "spool")
        os.mkdir(self.spool_dir)
        token = os.path.join(self._folder.name, "admin-token")
        changes = {**changes, "THIS_ADDRESS": machine.address, "/var/tmp": self.spool_dir,
                   "/etc/restante/admin-token": token}
        config = os.path.join(self._folder.name, "restante.conf")
        for path, text in ((token, PASSWORD * 4), (config, fill_in("restante.conf", network, changes))):
            with open(path, "w", opener=lambda name, flags: os.open(name, flags, 0o600)) as out:
                out.write(text)
        # Acked files are kept, because the checker looks for them at the end.
        self._command = machine.command(os.path.abspath(self.binary), "serve", "--config", config,
                                        "--sweep-interval", "10s", "--ack-retention", "7d")
        self._stderr, self._environment = self._log, {**os.environ}
        self.process = None
        self.start()


class NoProxy:
    """Where the soak expects a proxy."""

    def arm(self, _):
        pass

    def cut(self):
        pass


class Replica:
    def __init__(self, server):
        self.server, self.address, self.database_proxy = server, server.address, NoProxy()


class ClusterDatabase(Database):
    def __init__(self, patroni):
        self._patroni = patroni
        self.session = patroni.session()

    def __exit__(self, *_):
        self.session.close()

    def reconnect(self):
        self.session.close()
        self.session = self._patroni.session()


def accepts(address):
    try:
        with socket.create_connection(address, timeout=5):
            return True
    except OSError:
        return False


@contextlib.contextmanager
def haproxy(machine, network, folder):
    """docs/cluster/haproxy.cfg, with a certificate made for it."""
    pem = os.path.join(folder, "restante.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-subj", "/CN=restante", "-keyout", pem, "-out", pem + ".crt"], check=True, capture_output=True)
    with open(pem, "a") as both, open(pem + ".crt") as certificate:
        both.write(certificate.read())
    config = os.path.join(folder, "haproxy.cfg")
    with open(config, "w") as out:
        out.write(fill_in("haproxy.cfg", network, {"/etc/haproxy/restante.pem": pem}))
    program = shutil.which("haproxy", path="/usr/sbin:/usr/bin")
    with open(os.path.join(folder, "haproxy.log"), "wb") as log:
        process = subprocess.Popen(machine.command(program, "-db", "-f", config), stdout=log, stderr=log,
                                   start_new_session=True)
    try:
        await_true(lambda: accepts((machine.address, 443)), 20, "haproxy listens")
        yield process
    finally:
        process.kill()
        process.wait()


class ClusterBed(Bed):
    def __init__(self, seed, pace, say=print, binary=None):
        contextlib.ExitStack.__init__(self)
        self.seed, self.pace, self.say = seed, pace, say
        self.journal = Journal()
        self.stop, self.give_up = threading.Event(), threading.Event()
        self.settled, self.polled = threading.Event(), threading.Event()
        self.heads = {}
        with contextlib.ExitStack() as made:
            self.contents = made.enter_context(STORES["inline"]())
            network = made.enter_context(Network())
            self.patroni = made.enter_context(Patroni(network))
            self.machines = [network.machine(host) for host in (21, 22)]
            made.enter_context(haproxy(self.machines[1], network, self.patroni.folder))
            self.servers = [made.enter_context(ClusterServer(machine, network, binary, changes))
                            for machine, changes in zip(self.machines, ({}, {HOSTS: THROUGH_HAPROXY}))]
            for server in self.servers:
                server.wait_ready(within=60)
            self.database = made.enter_context(ClusterDatabase(self.patroni))
            self.replicas = [Replica(server) for server in self.servers]
            self.workspaces = [self.database.add_workspace() for _ in range(WORKSPACES)]
            self.push(made.pop_all().__exit__)
        self._addresses = itertools.cycle([server.address for server in self.servers])
        self.steady = self.replicas[0]

    def session(self, within=60):
        return self.patroni.session(within)

    def await_served(self, within):
        """Both servers say that they are ready."""
        await_true(lambda: all(server.get("/readyz").status == 200 for server in self.servers), within, "both are ready")
