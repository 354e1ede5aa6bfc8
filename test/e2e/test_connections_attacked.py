"""PostgreSQL in unusual surroundings: settings that turn unsafe, lists of hosts, a pooler, a schema in the way."""

import concurrent.futures
import socket
import time
import unittest

from forms import PLAIN, form, part
from http_wire import await_true
from pg_client import Session, format_conninfo, parse_conninfo
from pooler import Pooler
from server_process import Server, run_command
from testbed import Cluster, Database, upload

BODY = form(part(b"hello"))


def send(server, workspace):
    return upload(server.address, workspace, BODY, PLAIN)


class UnsafeLater(unittest.TestCase):
    """The settings change while the server runs: /readyz follows within seconds, both ways."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(Cluster())
        cls.db = cls.enterClassContext(Database(cls.cluster.conninfo))
        cls.server = cls.enterClassContext(Server(cls.db.conninfo, "--threads", "1"))
        cls.server.wait_ready()
        cls.workspace = cls.db.add_workspace()

    def assert_follows(self, change, word, undo):
        self.assertEqual(send(self.server, self.workspace).status, 200)
        try:
            change()
            await_true(lambda: self.server.get("/readyz").status == 503, 5, "/readyz follows")
            self.assertIn(word, self.server.get("/readyz").body.decode())
            before = self.db.counts()
            answer = send(self.server, self.workspace)
            self.assertEqual((answer.status, answer.json()["code"]), (503, "platform_unavailable"))
            self.assertEqual(self.db.counts(), before)
        finally:
            undo()
        self.server.wait_ready(within=5)
        self.assertEqual(send(self.server, self.workspace).status, 200)

    def system(self, text):
        self.db.session.query(f"ALTER SYSTEM {text}")
        self.db.session.query("SELECT pg_reload_conf()")

    def test_alter_system(self):
        for setting, value, word in (("synchronous_commit", "off", "synchronous_commit"),
                                     ("fsync", "off", "fsync"),
                                     ("full_page_writes", "off", "full_page_writes"),
                                     ("default_transaction_read_only", "on", "read-only")):
            with self.subTest(setting):
                self.assert_follows(lambda: self.system(f"SET {setting} = {value}"), word,
                                    lambda: self.system(f"RESET {setting}"))

    def test_alter_role(self):
        """Which open sessions do not see."""
        role = "ALTER ROLE postgres"
        for setting, word in (("default_transaction_read_only = on", "read-only"),
                              ("synchronous_commit = off", "synchronous_commit")):
            with self.subTest(setting):
                self.assert_follows(lambda: self.db.session.query(f"{role} SET {setting}"), word,
                                    lambda: self.db.session.query(f"{role} RESET ALL"))


class Serializable(unittest.TestCase):
    def test_concurrent_uploads_do_not_fail_each_other(self):
        with Database() as db:
            db.session.query(f"ALTER DATABASE {db.name} SET default_transaction_isolation = serializable")
            with Server(db.conninfo) as server, concurrent.futures.ThreadPoolExecutor(16) as pool:
                server.wait_ready()
                workspaces = [db.add_workspace() for _ in range(4)]
                answers = list(pool.map(lambda i: send(server, workspaces[i % 4]), range(96)))
                self.assertEqual([answer.status for answer in answers], [200] * 96)


class Hosts(unittest.TestCase):
    def serve_behind(self, host, port):
        """With another host before the real one."""
        db = self.enterContext(Database())
        info = parse_conninfo(db.conninfo)
        listed = {**info, "host": f"{host},{info['host']}", "port": f"{port},{info.get('port', '5432')}"}
        server = self.enterContext(Server(format_conninfo(listed), "--threads", "1"))
        server.wait_ready(within=10)
        workspace = db.add_workspace()
        begun = time.monotonic()
        for _ in range(5):
            self.assertEqual(send(server, workspace).status, 200)
        self.assertLess(time.monotonic() - begun, 5)
        return server

    def test_the_first_refuses(self):
        with socket.socket() as dead:
            dead.bind(("127.0.0.1", 0))  # and does not listen
            self.serve_behind("127.0.0.1", dead.getsockname()[1])

    def test_the_first_is_frozen(self):
        """It accepts and says nothing; a burst needs more connections, and none waits for it."""
        with socket.socket() as frozen:
            frozen.bind(("127.0.0.1", 0))
            frozen.listen(100)
            server = self.serve_behind("127.0.0.1", frozen.getsockname()[1])
            begun = time.monotonic()
            with concurrent.futures.ThreadPoolExecutor(16) as pool:
                answers = list(pool.map(lambda _: server.get("/readyz").status, range(64)))
            self.assertEqual(set(answers), {200})
            self.assertLess(time.monotonic() - begun, 5)

    def test_a_standby_before_the_primary(self):
        """The test has no standby; a database that is read-only by default looks like one to a new session."""
        with Database() as db:
            db.session.query(f"ALTER DATABASE {db.name} SET default_transaction_read_only = on")
            info = parse_conninfo(db.conninfo)
            twice = {**info, "host": f"{info['host']},{info['host']}"}
            code, out, err = run_command("migrate", "--database-url", format_conninfo(twice))
            self.assertNotEqual(code, 0)
            self.assertIn("session is read-only", err)


class PoolerModes(unittest.TestCase):
    def test_session_mode_works(self):
        with Database() as db, Pooler(db.conninfo, "session") as pooler, \
                Server(pooler.conninfo) as one, Server(pooler.conninfo) as other:
            one.wait_ready()
            other.wait_ready()
            workspace = db.add_workspace()
            for server in (one, other, one):
                self.assertEqual(send(server, workspace).status, 200)
            listening = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN restante%'"
            await_true(lambda: db.session.value(listening) == "2", 10, "both listen")
            db.session.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                             "WHERE datname = current_database() AND pid <> pg_backend_pid()")
            await_true(lambda: send(one, workspace).status == 200, 10, "works again")

    def test_transaction_mode_is_refused_at_the_start(self):
        with Database() as db, Pooler(db.conninfo, "transaction") as pooler:
            code, out, err = run_command("serve", "--database-url", pooler.conninfo,
                                         "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0")
            self.assertNotEqual(code, 0)
            self.assertEqual(out, "")
            self.assertIn("session mode", err)
            self.assertIsNone(db.session.value("SELECT to_regclass('public.workspaces')"))


class SchemaNamedLikeTheRole(unittest.TestCase):
    def test_ours_is_public(self):
        with Database() as db:
            db.session.query("CREATE SCHEMA postgres; CREATE TABLE postgres.workspaces (id text)")
            with Server(db.conninfo) as server:
                server.wait_ready()
                db.session.query("SET search_path = public")
                self.assertEqual(send(server, db.add_workspace()).status, 200)
                theirs = "SELECT count(*) FROM pg_class WHERE relnamespace = 'postgres'::regnamespace"
                self.assertEqual(db.session.value(theirs), "1")


def set_standbys(operator, names):
    operator.query(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
    operator.query("SELECT pg_reload_conf()")
    await_true(lambda: operator.value("SHOW synchronous_standby_names") == names, 5, "the new configuration")


class StandbyGone(unittest.TestCase):
    """The synchronous standby confirms nothing: no upload is confirmed, and none is made visible by ending its
    session."""

    WAITING = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' ORDER BY pid"
    SESSIONS = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'restante%'"

    def test_commits_wait_and_connections_stay_bounded(self):
        with Cluster() as cluster, Database(cluster.conninfo) as db, \
                Server(db.conninfo, "--threads", "1", "--db-connections", "4") as server:
            server.wait_ready()
            workspaces = [db.add_workspace() for _ in range(8)]
            self.assertEqual(send(server, workspaces[0]).status, 200)
            with Session(cluster.conninfo) as operator:
                set_standbys(operator, "nobody")
                try:
                    self.check_stalled(server, workspaces, operator)
                finally:
                    set_standbys(operator, "")
            await_true(lambda: send(server, workspaces[1]).status == 200, 10, "commits again")

    def check_stalled(self, server, workspaces, operator):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            first = pool.submit(send, server, workspaces[0])
            stuck = await_true(lambda: operator.query(self.WAITING), 10, "a commit waits")
            answer = first.result()
            self.assertEqual((answer.status, answer.json().get("stored")), (503, "unknown"), answer)
            most = 0
            for _ in range(3):
                answers = list(pool.map(lambda workspace: send(server, workspace), workspaces))
                self.assertEqual({answer.status for answer in answers}, {503}, answers)
                most = max(most, int(operator.value(self.SESSIONS)))
        self.assertLessEqual(set(stuck), set(operator.query(self.WAITING)), "none was ended")
        # Four, one for the pool's own questions, and two for NOTIFY and LISTEN.
        self.assertLessEqual(most, 7)
        begun = time.monotonic()
        self.assertEqual(send(server, workspaces[1]).status, 503)
        self.assertLess(time.monotonic() - begun, 2, "refused early")


if __name__ == "__main__":
    unittest.main()
