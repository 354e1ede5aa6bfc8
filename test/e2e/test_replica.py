"""--replica-url: pages and contents come from a standby only where the primary would have given the same."""

import concurrent.futures
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "soak"))

from forms import PLAIN, form, part  # noqa: E402  (the path comes first)
from http_wire import await_true  # noqa: E402
from identity_case import call, poll_workspace, tokens_path  # noqa: E402
from pg_client import DatabaseError, Session  # noqa: E402
from server_process import BINARY, Server  # noqa: E402
from standby import Standby  # noqa: E402
from testbed import Cluster, Database, run_as_postgres, upload  # noqa: E402

ADMIN = {"RESTANTE_ADMIN_TOKEN": "an-admin-token-for-this-test"}


class ReplicaCase(unittest.TestCase):
    """A primary, an asynchronous standby, and a server that may read from it."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(Cluster())
        cls.standby = cls.enterClassContext(Standby(cls.cluster, synchronous=False))
        # It goes with the cluster; by the end it may not be possible to drop it.
        cls.db = Database(cls.cluster.conninfo)
        cls.addClassCleanup(cls.db.session.close)
        cls.await_replayed()
        cls.server = cls.enterClassContext(
            Server(cls.db.conninfo, "--threads", "1", "--replica-url", cls.standby.conninfo(cls.db), environment=ADMIN))
        cls.server.wait_ready()

    def setUp(self):
        self.await_usable()
        self.workspace = self.db.add_workspace()

    @classmethod
    def await_replayed(cls):
        """Until the standby shows what the primary shows now."""
        now = cls.db.session.value("SELECT pg_current_wal_lsn()")

        def replayed():
            try:
                with Session(cls.standby.conninfo(cls.db)) as there:
                    return there.value(f"SELECT pg_last_wal_replay_lsn() >= '{now}'") == "t"
            except (OSError, DatabaseError):
                return False  # the database is not there yet
        await_true(replayed, 60, "the standby has replayed everything")

    def outcomes(self, name):
        return self.server.metrics()[f'molecule_replica_reads_total{{outcome="{name}"}}']

    def usable(self):
        return self.server.metrics()["molecule_replica_usable"] == 1

    def await_usable(self):
        await_true(self.usable, 60, "the standby is read from")

    def degraded(self):
        answer = self.server.get("/readyz")
        self.assertEqual(answer.status, 200, answer)
        return " ".join(answer.json().get("degraded", [])) if answer.body else ""

    def on_standby(self, sql):
        with Session(self.standby.conninfo(self.db)) as session:
            return session.query(sql)

    def pg_ctl(self, *words):
        """For the standby."""
        run_as_postgres("pg_ctl", "-D", f"{self.cluster.folder}/standby", "-w", "-t", "50", *words)

    @contextlib.contextmanager
    def paused(self):
        """The standby answers, and replays nothing."""
        self.await_replayed()
        self.on_standby("SELECT pg_wal_replay_pause()")
        await_true(lambda: self.on_standby("SELECT pg_get_wal_replay_pause_state()") == [("paused",)], 30, "paused")
        try:
            yield
        finally:
            self.on_standby("SELECT pg_wal_replay_resume()")

    @contextlib.contextmanager
    def stopped_standby(self):
        self.pg_ctl("stop", "-m", "immediate")
        try:
            await_true(lambda: not self.usable(), 30, "not read from")
            yield
        finally:
            self.pg_ctl("start", "-l", f"{self.cluster.folder}/standby-log")

    @contextlib.contextmanager
    def frozen_standby(self):
        """The postmaster first, so that it starts no more."""
        with open(f"{self.cluster.folder}/standby/postmaster.pid") as file:
            processes = [int(file.readline())]
        os.kill(processes[0], signal.SIGSTOP)
        with open(f"/proc/{processes[0]}/task/{processes[0]}/children") as children:
            processes += [int(child) for child in children.read().split()]
        for process in processes[1:]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in processes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGCONT)

    def get(self, path, workspace=None):
        owner = workspace or self.workspace
        return call(self.server, "GET", f"/workspaces/{owner.id}{path}", owner.token)

    def stage(self, content=b"hello", name="a.txt"):
        answer = upload(self.server.address, self.workspace, form(part(content, name)), PLAIN)
        self.assertEqual(answer.status, 200, answer)
        return answer.json()["files"][0]["file_id"]

    def rows_of_primary(self, after=0):
        """What a poll after this number must show, as the primary has it."""
        return [(int(seq), row_id) for seq, row_id in self.db.session.query(
            f"SELECT seq, id FROM activity_logs WHERE workspace_id = '{self.workspace.id}' AND seq > {after} "
            "ORDER BY seq")]

    def poll(self, cursor):
        answer = self.get(f"/activity?{cursor}")
        self.assertEqual(answer.status, 200, answer)
        return [(row["seq"], row["id"]) for row in answer.json()]

    def poll_both(self, after):
        """The rows after this number, asked for by number and by id."""
        rows = self.poll(f"since_seq={after}")
        by_id = dict(self.rows_of_primary(after - 1))[after]
        self.assertEqual(rows, self.poll(f"since_id={by_id}"))
        return rows

    def await_outcome(self, name, action):
        """Repeats what must be right each time, until it came about this way: a busy machine may take too long."""
        before = self.outcomes(name)

        def seen():
            action()
            return self.outcomes(name) > before
        await_true(seen, 60, name)


class Pages(ReplicaCase):
    def test_a_page_comes_from_the_standby(self):
        for _ in range(5):
            self.stage()
        self.await_replayed()
        self.await_outcome("served", lambda: self.assertEqual(self.poll_both(2), self.rows_of_primary(2)))
        self.assertEqual(len(self.poll_both(2)), 3)

    def test_bodies_and_filters_are_the_same(self):
        self.stage()
        for kilobytes in (1, 40, 1):
            row = {"activity_type": "task_update", "method": "m" * 50, "request_body": {"text": "x" * 1024 * kilobytes}}
            path = f"/workspaces/{self.workspace.id}/activity"
            self.assertEqual(call(self.server, "POST", path, self.workspace.token, row).status, 200)
        paths = [f"/activity?since_seq=1&{more}" for more in ("limit=2", "type=task_update", "source=agent")]
        expected = {}
        self.await_replayed()
        with self.stopped_standby():
            expected = {path: self.get(path).body for path in paths}
        self.await_usable()
        for path in paths:
            self.await_outcome("served", lambda: self.assertEqual(self.get(path).body, expected[path]))

    def test_an_empty_page_needs_no_standby(self):
        self.stage()
        last = self.rows_of_primary()[-1]
        for cursor in (f"since_seq={last[0]}", f"since_id={last[1]}"):
            self.await_outcome("unneeded", lambda: self.assertEqual(self.poll(cursor), []))

    def test_a_standby_that_does_not_replay_makes_no_row_late(self):
        self.stage()

        def one_more():
            newest = self.rows_of_primary()[-1][0]
            self.stage()
            self.assertEqual(self.poll_both(newest), self.rows_of_primary(newest))
        with self.paused():
            self.await_outcome("behind", one_more)
            self.await_outcome("skipped", one_more)  # it is not asked each time
            for _ in range(5):
                one_more()
        self.await_replayed()
        self.await_outcome("served", lambda: self.assertEqual(self.poll_both(1), self.rows_of_primary(1)))

    def test_a_parked_poll_is_woken_by_a_row_that_the_standby_lacks(self):
        self.stage()
        with self.paused(), concurrent.futures.ThreadPoolExecutor(1) as thread:
            coming = thread.submit(self.poll, "since_seq=1&wait=50")
            await_true(lambda: self.server.metrics()["molecule_parked_polls"] == 1, 30, "parked")
            self.stage()
            self.assertEqual(coming.result(timeout=60), self.rows_of_primary(1))

    def test_what_retention_has_removed_is_gone_although_the_standby_has_it(self):
        for _ in range(6):
            self.stage()
        rows = self.rows_of_primary()
        with self.paused():
            self.db.session.query(
                f"DELETE FROM activity_logs WHERE workspace_id = '{self.workspace.id}' AND seq <= 3")
            for cursor in ("since_seq=1", f"since_id={rows[0][1]}", f"since_id={rows[2][1]}"):
                answer = self.get(f"/activity?{cursor}")
                self.assertEqual((answer.status, answer.json()["code"]), (410, "cursor_gone"), cursor)
            self.assertEqual(self.poll("since_seq=0"), rows[3:])
            self.assertEqual(self.poll("since_seq=3"), rows[3:])
            self.assertEqual(self.get("/activity?since_seq=7").status, 410, "ahead of the newest")

    def test_a_standby_with_another_history_is_not_believed(self):
        """It has a row under the newest number, and it is another one."""
        for _ in range(3):
            self.stage()
        with self.paused():
            for change in ("created_at = created_at + interval '1 microsecond'", "id = gen_random_uuid()"):
                self.await_usable()
                self.db.session.query(f"UPDATE activity_logs SET {change} WHERE seq = 3 AND "
                                      f"workspace_id = '{self.workspace.id}'")
                self.await_outcome("wrong", lambda: self.assertEqual(self.poll("since_seq=1"), self.rows_of_primary(1)))
            self.assertIn("--replica-url", self.degraded())

    def test_a_row_that_is_not_confirmed_is_not_shown(self):
        """The standby replays a commit before the primary shows it, which waits for somebody else."""
        for _ in range(2):
            self.stage()
        self.await_replayed()
        with Session(self.cluster.conninfo) as operator, concurrent.futures.ThreadPoolExecutor(1) as thread:
            operator.query("SET synchronous_commit = local")
            operator.query("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
            operator.query("SELECT pg_reload_conf()")
            try:
                coming, before = self.upload_that_waits(thread)
                self.await_outcome("ahead", lambda: self.assertEqual(self.poll("since_seq=1"), before))
            finally:
                operator.query("ALTER SYSTEM SET synchronous_standby_names = ''")
                operator.query("SELECT pg_reload_conf()")
            # It may have waited for longer than its client is let wait.
            self.assertIn(coming.result(timeout=60).status, (200, 503))
        await_true(lambda: len(self.poll("since_seq=1")) == len(before) + 1, 30, "the row is shown once it is confirmed")

    def upload_that_waits(self, thread):
        """An upload that only the standby shows, and the rows that the primary shows after the first. PostgreSQL takes a
        setting in its own time: what is committed before that is confirmed at once."""
        count = f"SELECT count(*) FROM activity_logs WHERE workspace_id = '{self.workspace.id}'"
        waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'"

        def is_ahead():
            shown = self.on_standby(count)
            return self.db.session.query(waiting) and shown == [(str(len(self.rows_of_primary(0)) + 1),)]
        for _ in range(100):
            coming = thread.submit(upload, self.server.address, self.workspace, form(part(b"later")), PLAIN)
            await_true(lambda: is_ahead() or coming.done(), 30, "the standby shows the row")
            if is_ahead():
                return coming, self.rows_of_primary(1)
            self.assertEqual(coming.result().status, 200)
        self.fail("nothing waits for the standby")

    def test_a_revoked_token_and_a_removed_workspace_are_refused_although_the_standby_knows_nothing(self):
        owner = "be8e1a1e-0000-4000-8000-0000000000c1"
        answer = call(self.server, "POST", "/registry/register", ADMIN["RESTANTE_ADMIN_TOKEN"], poll_workspace(owner))
        self.assertEqual(answer.status, 200, answer)
        token, path = answer.json()["auth_token"], f"/workspaces/{owner}/activity"
        with self.paused():
            self.assertEqual(call(self.server, "GET", path, token).status, 200)
            own, = call(self.server, "GET", tokens_path(owner), token).json()
            revoked = call(self.server, "DELETE", f"{tokens_path(owner)}/{own['token_id']}", token)
            self.assertEqual(revoked.status, 200, revoked)
            self.assertEqual(call(self.server, "GET", f"{path}?since_seq=1", token).status, 401)
            removed = call(self.server, "DELETE", f"/workspaces/{self.workspace.id}?confirm=true",
                           ADMIN["RESTANTE_ADMIN_TOKEN"])
            self.assertEqual(removed.status, 200, removed)
            self.assertIn(self.get("/activity?since_seq=1").status, (401, 404, 410))

    def test_a_standby_that_stands_still_delays_one_poll_and_is_used_again(self):
        for _ in range(3):
            self.stage()
        self.await_replayed()
        failed, skipped = self.outcomes("failed"), self.outcomes("skipped")
        with self.frozen_standby():
            for _ in range(20):
                self.assertEqual(self.poll("since_seq=1"), self.rows_of_primary(1))
            self.assertIn("--replica-url", self.degraded())
            self.assertLessEqual(self.outcomes("failed") - failed, 1)
            self.assertGreaterEqual(self.outcomes("skipped") - skipped, 19)
        self.await_usable()
        self.await_outcome("served", lambda: self.assertEqual(self.poll("since_seq=1"), self.rows_of_primary(1)))
        self.assertEqual(self.degraded(), "")

    def test_a_standby_that_is_down_is_used_again(self):
        for _ in range(3):
            self.stage()
        with self.stopped_standby():
            for _ in range(5):
                self.assertEqual(self.poll("since_seq=1"), self.rows_of_primary(1))
            await_true(lambda: "--replica-url" in self.degraded(), 30, "/readyz tells")
        self.await_usable()
        self.await_outcome("served", lambda: self.assertEqual(self.poll("since_seq=1"), self.rows_of_primary(1)))


class Contents(ReplicaCase):
    CONTENT = bytes(range(256)) * 1024 * 3  # 768 KiB: in its row, and too much to come with the primary's answer

    def fetch(self, file, headers=()):
        return call(self.server, "GET", f"/workspaces/{self.workspace.id}/pending-uploads/{file}/content",
                    self.workspace.token, headers=headers)

    def assert_exact(self, file):
        answer = self.fetch(file)
        self.assertEqual((answer.status, answer.body == self.CONTENT), (200, True))
        part_of = self.fetch(file, [("Range", "bytes=1000-300000")])
        self.assertEqual((part_of.status, part_of.body == self.CONTENT[1000:300001]), (206, True))

    def test_bytes_come_from_the_standby(self):
        file = self.stage(self.CONTENT)
        self.await_replayed()
        self.await_outcome("served", lambda: self.assert_exact(file))

    def test_small_and_very_large_files_come_from_the_primary(self):
        small, large = self.stage(b"x" * 1000), self.stage(b"y" * 1_100_000)
        self.await_replayed()
        before = self.outcomes("served")
        self.assertEqual(self.fetch(small).body, b"x" * 1000)
        self.assertEqual(self.fetch(large).body, b"y" * 1_100_000)
        self.assertEqual(self.outcomes("served"), before)

    def test_a_file_that_the_standby_lacks_is_exact(self):
        with self.paused():
            file = self.stage(self.CONTENT)
            self.await_outcome("behind", lambda: self.assert_exact(file))

    def test_what_was_acked_expired_or_removed_is_refused_although_the_standby_has_it(self):
        files = [self.stage(self.CONTENT) for _ in range(3)]
        with self.paused():
            path = f"/workspaces/{self.workspace.id}/pending-uploads/{files[0]}/ack"
            self.assertEqual(call(self.server, "POST", path, self.workspace.token).status, 200)
            self.db.session.query(
                f"UPDATE pending_uploads SET expires_at = now() - interval '1 second' WHERE file_id = '{files[1]}'")
            self.db.session.query(f"DELETE FROM pending_uploads WHERE file_id = '{files[2]}'")
            for file in files:
                self.assertEqual(self.fetch(file).status, 404)

    def test_other_bytes_are_not_sent(self):
        """The standby has the file as it was before the primary's row was changed by hand."""
        file = self.stage(b"z" * len(self.CONTENT))
        with self.paused():
            self.db.session.query(
                "UPDATE pending_uploads SET content = c, sha256 = sha256(c) FROM (SELECT decode(repeat("
                f"'{self.CONTENT[:256].hex()}', {len(self.CONTENT) // 256}), 'hex') AS c) AS made "
                f"WHERE file_id = '{file}'")
            self.await_outcome("wrong", lambda: self.assert_exact(file))
            self.assertIn("--replica-url", self.degraded())

    def test_a_standby_that_stands_still_delays_no_more_than_one(self):
        file = self.stage(self.CONTENT)
        self.await_replayed()
        failed = self.outcomes("failed")
        with self.frozen_standby():
            for _ in range(5):
                self.assert_exact(file)
            self.assertLessEqual(self.outcomes("failed") - failed, 1)


class Promoted(ReplicaCase):
    def test_a_former_standby_is_left(self):
        """It goes on with rows of its own, which nobody confirmed."""
        for _ in range(3):
            self.stage()
        self.await_replayed()
        self.pg_ctl("promote")
        self.on_standby(
            "INSERT INTO activity_logs SELECT (json_populate_record(a, json_build_object('id', gen_random_uuid(), "
            f"'seq', 4))).* FROM activity_logs AS a WHERE workspace_id = '{self.workspace.id}' AND seq = 3")
        for _ in range(3):
            self.assertEqual(self.poll("since_seq=1"), self.rows_of_primary(1))
            self.stage()  # number 4, and others
        await_true(lambda: "not a standby" in self.degraded(), 30, "/readyz tells")
        self.assertFalse(self.usable())
        self.assertEqual(self.poll("since_seq=1"), self.rows_of_primary(1))


class Elsewhere(unittest.TestCase):
    def test_a_standby_of_another_cluster_is_not_read_from(self):
        cluster, other = self.enterContext(Cluster()), self.enterContext(Cluster())
        db, theirs = Database(cluster.conninfo), Database(other.conninfo)
        self.addCleanup(db.session.close)
        self.addCleanup(theirs.session.close)
        standby = self.enterContext(Standby(other, synchronous=False))
        server = self.enterContext(Server(db.conninfo, "--threads", "1", "--replica-url", standby.conninfo(theirs)))
        server.wait_ready()
        await_true(lambda: b"another cluster" in server.get("/readyz").body, 30, "/readyz tells")
        self.assertEqual(server.metrics()["molecule_replica_usable"], 0)

    def test_an_url_that_is_none_is_refused(self):
        done = subprocess.run([BINARY, "serve", "--database-url", os.environ["RESTANTE_TEST_DB"], "--replica-url",
                               "host=127.0.0.1 colour=red", "--listen", "127.0.0.1:0"],
                              capture_output=True, text=True, timeout=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--replica-url: ", done.stderr)


if __name__ == "__main__":
    unittest.main()
