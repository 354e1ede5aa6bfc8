"""A PostgreSQL with standbys, as servers meet it: no standby, a demoted primary, a former one, hosts of a list that do
not answer."""

import concurrent.futures
import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "soak"))

from forms import PLAIN, form, part  # noqa: E402  (the path comes first)
from identity_case import call, poll_workspace  # noqa: E402
from http_wire import Wire, await_true, request_head  # noqa: E402
from pg_client import Session, format_conninfo, parse_conninfo  # noqa: E402
from server_process import BINARY, Server  # noqa: E402
from standby import NAME, PORT, Standby  # noqa: E402
from testbed import Cluster, Database, run_as_postgres, upload  # noqa: E402

BODY = form(part(b"hello"))
ONE_THREAD = ("--threads", "1")
WAITING = "FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name LIKE 'restante%'"


def send(server, workspace, key=None):
    headers = [("Idempotency-Key", key)] if key else []
    return upload(server.address, workspace, BODY, PLAIN, headers)


def reasons(server):
    answer = server.get("/readyz")
    return " ".join(answer.json().get("reasons", [])) if answer.status == 503 else ""


class Synchronous(unittest.TestCase):
    """One standby, on which every commit waits."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(Cluster())
        cls.standby = cls.enterClassContext(Standby(cls.cluster))
        cls.db = cls.enterClassContext(Database(cls.cluster.conninfo))
        cls.operator = cls.enterClassContext(Session(cls.cluster.conninfo))
        # The operator's own commits wait for nobody.
        cls.operator.query("SET synchronous_commit = local")
        cls.server = cls.enterClassContext(Server(cls.db.conninfo, *ONE_THREAD, "--require-synchronous"))
        cls.server.wait_ready()
        cls.workspace = cls.db.add_workspace()

    @contextlib.contextmanager
    def system(self, name, value, before):
        self._set(name, value)
        try:
            yield
        finally:
            self._set(name, before)
            self.server.wait_ready(within=30)

    def standbys_are(self, names):
        return self.system("synchronous_standby_names", names, NAME)

    def _set(self, name, value):
        self.operator.query(f"ALTER SYSTEM SET {name} = '{value}'")
        self.operator.query("SELECT pg_reload_conf()")

    def assert_refused(self, word):
        await_true(lambda: word in reasons(self.server), 30, f"/readyz says {word}")
        answer = send(self.server, self.workspace)
        self.assertEqual((answer.status, answer.json()["code"]), (503, "platform_unavailable"), answer)

    def test_local_commits_are_unsafe_where_a_standby_is_named(self):
        with self.system("synchronous_commit", "local", "on"):
            self.assert_refused("synchronous_commit is local")

    def test_local_commits_of_sessions_to_come_count_too(self):
        self.operator.query("ALTER ROLE postgres SET synchronous_commit = local")
        try:
            self.assert_refused("synchronous_commit is local")
        finally:
            self.operator.query("ALTER ROLE postgres RESET synchronous_commit")
        self.server.wait_ready(within=30)

    def test_a_cluster_that_stops_being_synchronous_is_refused(self):
        with self.standbys_are(""):
            self.assert_refused("--require-synchronous")
            with Server(self.db.conninfo, *ONE_THREAD) as tolerant:
                tolerant.wait_ready()
                self.assertEqual(send(tolerant, self.workspace).status, 200)

    def test_a_standby_that_is_missing_is_told_and_files_are_still_served(self):
        with self.standbys_are("somebody_else"):
            await_true(lambda: "0 confirm" in reasons(self.server), 30, "/readyz tells")
            listed = f"/workspaces/{self.workspace.id}/pending-uploads"
            self.assertEqual(self.server.get(listed).status, 401, "it answers, and asks for a token")

    def test_what_an_ordinary_role_sees(self):
        """It sees that there are standbys, not what they are; with pg_read_all_stats it sees both."""
        for role in ("plain", "informed"):
            self.db.session.query(f"CREATE ROLE {role} LOGIN; GRANT ALL ON SCHEMA public TO {role}; "
                                  f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {role}")
        self.db.session.query("GRANT pg_read_all_stats TO informed")
        servers = {}
        for role in ("plain", "informed"):
            info = format_conninfo({**parse_conninfo(self.db.conninfo), "user": role})
            servers[role] = self.enterContext(Server(info, *ONE_THREAD, "--no-migrate"))
            servers[role].wait_ready()
        with self.standbys_are("somebody_else"):
            await_true(lambda: "0 confirm" in reasons(servers["informed"]), 30, "the informed role tells")
            self.assertEqual(servers["plain"].get("/readyz").status, 200)

    def test_a_repeated_key_waits_for_the_standby(self):
        """The first answer was given; the standby then has it. A repetition must not answer from what only the primary
        has, so it waits as well."""
        self.assertEqual(send(self.server, self.workspace, "again").status, 200)
        with self.standby.stalled():
            answer = send(self.server, self.workspace, "again")
            self.assertEqual(answer.status, 503, answer)
        await_true(lambda: send(self.server, self.workspace, "again").status == 200, 30, "commits again")
        self.assertEqual(send(self.server, self.workspace, "again").headers["idempotency-replayed"], "true")

    @contextlib.contextmanager
    def waiting(self, request, statement):
        """A request whose commit, of this statement, waits for the stalled standby: gives its answer to come."""
        with concurrent.futures.ThreadPoolExecutor(1) as thread, self.standby.stalled():
            coming = thread.submit(request)
            await_true(lambda: self.operator.query(f"SELECT pid {WAITING} AND query LIKE '{statement}%'"), 30,
                       "its commit waits")
            yield coming
        self.server.wait_ready(within=30)

    def cancelled(self, request, statement="COMMIT"):
        """The answer when an operator cancels whatever waits for the standby, which makes PostgreSQL commit."""
        with self.waiting(request, statement) as coming:
            while not coming.done():
                self.operator.query(f"SELECT pg_cancel_backend(pid) {WAITING}")
                concurrent.futures.wait([coming], 0.05)
        return coming.result()

    def left_alone(self, request, statement="COMMIT"):
        """The answer when the standby stops being synchronous, as a cluster that is not strict drops a dead one."""
        with self.waiting(request, statement) as coming, self.standbys_are(""):
            answer = coming.result()
        return answer

    def assert_unknown(self, answer):
        self.assertEqual((answer.status, answer.json().get("stored")), (503, "unknown"), answer)

    def assert_stored_once(self, key):
        """What was not confirmed is there all the same, and is confirmed when the standby has it."""
        again = send(self.server, self.workspace, key)
        self.assertEqual((again.status, again.headers.get("idempotency-replayed")), (200, "true"), again)

    def test_a_cancelled_wait_confirms_nothing(self):
        self.assert_unknown(self.cancelled(lambda: send(self.server, self.workspace)))
        self.assert_unknown(self.cancelled(lambda: send(self.server, self.workspace, "cancelled")))
        self.assert_stored_once("cancelled")

    def test_a_wait_without_a_standby_any_more_confirms_nothing(self):
        self.assert_unknown(self.left_alone(lambda: send(self.server, self.workspace)))
        self.assert_unknown(self.left_alone(lambda: send(self.server, self.workspace, "alone")))
        self.assert_stored_once("alone")

    def test_nor_does_either_confirm_an_ack(self):
        file = send(self.server, self.workspace).json()["files"][0]["file_id"]
        target = f"/workspaces/{self.workspace.id}/pending-uploads/{file}/ack"

        def ack():
            return call(self.server, "POST", target, self.workspace.token)

        for answer in (self.cancelled(ack, "WITH wanted"), self.left_alone(ack, "WITH wanted")):
            self.assertEqual((answer.status, answer.json()["code"]), (503, "platform_unavailable"), answer)
        self.assertEqual(ack().status, 200)

    def test_nor_a_token(self):
        """It would be lost with the primary, and its workspace taken by whoever registers it next."""
        answer = self.cancelled(lambda: call(self.server, "POST", "/registry/register", None,
                                             poll_workspace(str(uuid.uuid4()))))
        self.assertEqual((answer.status, answer.json()["code"]), (503, "platform_unavailable"), answer)


class FailedOver(unittest.TestCase):
    """The standby becomes the primary."""

    def setUp(self):
        self.cluster = self.enterContext(Cluster())
        self.standby = self.enterContext(Standby(self.cluster))
        # It goes with the cluster; by the end it may not be possible to drop it.
        self.db = Database(self.cluster.conninfo)
        self.addCleanup(self.db.session.close)
        info = parse_conninfo(self.db.conninfo)
        self.hosts = {**info, "host": f"{info['host']},{info['host']}", "port": f"5432,{PORT}"}
        self.server = self.enterContext(Server(format_conninfo(self.hosts), "--threads", "2"))
        self.server.wait_ready()
        self.workspace = self.db.add_workspace()
        self.assertEqual(send(self.server, self.workspace).status, 200)

    def promote(self):
        run_as_postgres("pg_ctl", "-D", f"{self.cluster.folder}/standby", "-w", "-t", "50", "promote")
        there = {**parse_conninfo(self.db.conninfo), "port": str(PORT)}
        promoted = self.enterContext(Session(format_conninfo(there)))
        # Copied from the primary with the rest of its configuration.
        promoted.query("ALTER SYSTEM SET synchronous_standby_names = ''")
        promoted.query("SELECT pg_reload_conf()")
        return promoted

    def configure(self, **changes):
        """The first primary."""
        with Session(self.cluster.conninfo) as operator:
            operator.query("SET default_transaction_read_only = off")
            for name, value in changes.items():
                operator.query(f"ALTER SYSTEM SET {name} = '{value}'")
            operator.query("SELECT pg_reload_conf()")

    def files(self, session):
        return int(session.value("SELECT count(*) FROM pending_uploads"))

    def test_a_former_primary_that_still_accepts_writes_gets_none(self):
        """It was not stopped, and comes first in the list of hosts. What is committed there is lost."""
        self.configure(synchronous_standby_names="", default_transaction_read_only="on")
        promoted = self.promote()
        # Found as a primary that turned read-only is left: 25006 on sessions that live on.
        await_true(lambda: send(self.server, self.workspace).status == 200, 30, "stored on the new primary")
        self.server.wait_ready(within=30)
        self.configure(default_transaction_read_only="off")
        with Session(self.db.conninfo) as former:
            before = self.files(former)
            with self.unreachable(promoted):
                # Sessions have to be opened again, and only the former primary answers.
                await_true(lambda: "former primary" in reasons(self.server), 30, "/readyz tells")
                for _ in range(5):
                    self.assertEqual(send(self.server, self.workspace).status, 503)
            await_true(lambda: send(self.server, self.workspace).status == 200, 30, "stored again")
            self.assertEqual(self.files(former), before)

    @contextlib.contextmanager
    def unreachable(self, promoted):
        """Its sessions end, and new ones hang."""
        with open(f"{self.cluster.folder}/standby/postmaster.pid") as file:
            postmaster = int(file.readline())
        promoted.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'restante%'")
        os.kill(postmaster, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(postmaster, signal.SIGCONT)

    def test_a_cursor_lives_on(self):
        rows = self.poll(None)
        self.cluster.stop("immediate")
        self.addCleanup(self.cluster.start)  # whoever takes it down expects it to run
        self.promote()
        await_true(lambda: send(self.server, self.workspace).status == 200, 30, "stored on the new primary")
        after = self.poll(rows[-1]["id"])
        self.assertGreaterEqual(len(after), 1)
        self.assertEqual(after[0]["seq"], rows[-1]["seq"] + 1)

    def poll(self, cursor):
        after = f"since_id={cursor}" if cursor else "since_seq=0"
        with Wire(self.server.address) as wire:
            wire.send(request_head("GET", f"/workspaces/{self.workspace.id}/activity?{after}", [
                ("Host", "test"), ("Authorization", f"Bearer {self.workspace.token}"), ("Connection", "close")]))
            answer = wire.read_answer()
        self.assertEqual(answer.status, 200, answer)
        return answer.json()


class Hosts(unittest.TestCase):
    def setUp(self):
        self.silent = self.enterContext(socket.socket())
        self.silent.bind(("127.0.0.1", 0))
        self.silent.listen(100)
        self.closed = self.enterContext(socket.socket())
        self.closed.bind(("127.0.0.1", 0))
        self.ports = [each.getsockname()[1] for each in (self.silent, self.closed)]

    def test_readyz_names_what_is_wrong_with_every_host(self):
        with Cluster() as cluster, Database(cluster.conninfo) as db:
            info = parse_conninfo(db.conninfo)
            listed = {**info, "host": f"127.0.0.1,127.0.0.1,{info['host']}",
                      "port": f"{self.ports[0]},{self.ports[1]},5432"}
            with Server(format_conninfo(listed), "--threads", "2") as server:
                server.wait_ready()
                cluster.stop("immediate")
                try:
                    for word in (f"127.0.0.1:{self.ports[0]}: no answer in time", f"port {self.ports[1]} failed",
                                 f"{info['host']}/.s.PGSQL.5432"):
                        await_true(lambda: word in reasons(server), 30, f"/readyz says {word}")
                finally:
                    cluster.start()
                server.wait_ready(within=30)
                answers = {server.get("/readyz").status for _ in range(100)}
                self.assertEqual(answers, {200}, "once it is ready, it is ready on every thread")
                db.reconnect()


class StopWhileStarting(unittest.TestCase):
    """SIGTERM acts at once, also while the private PostgreSQL is being made or recovers, and nothing is left."""

    def start(self, folder):
        log = self.enterContext(open(f"{folder}/log", "ab"))
        return subprocess.Popen([BINARY, "serve", "--data-dir", f"{folder}/data", "--listen", "127.0.0.1:0",
                                 "--metrics-listen", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=log, text=True,
                                start_new_session=True)

    def stop(self, process):
        begun = time.monotonic()
        process.send_signal(signal.SIGTERM)
        code = process.wait(timeout=60)
        process.stdout.close()
        self.assertLess(time.monotonic() - begun, 15)
        return code

    def await_log(self, folder, word):
        def said():
            with open(f"{folder}/log") as log:
                return word in log.read()
        await_true(said, 60, word)

    def test_while_initdb_runs(self):
        with tempfile.TemporaryDirectory(prefix="restante-e2e-", dir="/tmp") as folder:
            pathlib.Path(folder).chmod(0o711)
            process = self.start(folder)
            self.await_log(folder, "private_postgres_init")
            self.assertEqual(self.stop(process), 0)
            self.assertFalse(pathlib.Path(folder, "data/postgres/data").exists())
            # The next start begins anew.
            process = self.start(folder)
            self.assertIn("restante ready", process.stdout.readline())
            self.assertTrue(pathlib.Path(folder, "data/content").is_dir(), "large files go into a directory beside it")
            self.assertEqual(self.stop(process), 0)


if __name__ == "__main__":
    unittest.main()
