"""What the commands do where there is no server data, when migrating back would lose files, when the schema is newer
than the program, and when something unforeseen happens."""

import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
import uuid

from http_wire import await_true
from server_process import BINARY, Server, run_command
from testbed import Database


def run_in(folder, *words):
    done = subprocess.run([os.path.abspath(BINARY), *words], cwd=folder, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


class NoData(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="restante-e2e-"))
        os.chmod(self.folder, 0o755)  # so that initdb would work, as the user postgres

    def test_a_command_says_so_and_creates_nothing(self):
        workspace = str(uuid.uuid4())
        for words in (("status",), ("sweep",), ("migrate",), ("migrate", "--dry-run"), ("workspace", "add"),
                      ("workspace", "list"), ("workspace", "remove", workspace), ("token", "issue", workspace),
                      ("token", "list", workspace), ("token", "revoke", workspace, workspace),
                      ("content", "check"), ("content", "move", "--to", "directory")):
            with self.subTest(words=words):
                code, out, err = run_in(self.folder, *words)
                self.assertEqual((code, out), (1, ""))
                self.assertIn("there is no server data in ./restante-data", err)
                self.assertIn("--data-dir", err)
                self.assertIn("--database-url", err)
                self.assertEqual(os.listdir(self.folder), [])

    def test_an_impossible_directory_gets_a_sentence(self):
        code, _, err = run_in(self.folder, "status", "--data-dir", "d" * 300)
        self.assertEqual(code, 1)
        self.assertRegex(err, r"^restante: .*File name too long\n$")


class PrivateDatabase(unittest.TestCase):
    """A command that runs without a server starts the server's private PostgreSQL for itself."""

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="restante-e2e-"))
        os.chmod(self.folder, 0o755)
        self.data = os.path.join(self.folder, "data")
        with self.running("serve", "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0") as server:
            self.assertIn("restante ready", server.stdout.readline())
            server.send_signal(signal.SIGTERM)
            self.assertEqual(server.wait(timeout=60), 0)

    def running(self, *words):
        process = subprocess.Popen([BINARY, *words, "--data-dir", self.data], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True, start_new_session=True)
        self.addCleanup(process.kill)
        return process

    def test_it_is_reached_as_the_manual_says(self):
        manual = (pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "operations.md").read_text()
        conninfo = re.search(r"`(host=DIR/[^`]*)`", manual)[1].replace("DIR", self.data)
        with self.running("serve", "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0") as server:
            self.assertIn("restante ready", server.stdout.readline())
            done = subprocess.run(["pg_dump", "--schema-only", conninfo], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("CREATE TABLE public.pending_uploads", done.stdout)
            server.send_signal(signal.SIGTERM)

    def test_its_start_and_end_are_in_the_log_unless_that_is_not_wanted(self):
        code, _, err = run_command("status", "--data-dir", self.data)
        self.assertEqual((code, [json.loads(line)["event"] for line in err.splitlines()]),
                         (0, ["private_postgres_started", "private_postgres_stopped"]))
        for words in (("status",), ("workspace", "list"), ("migrate",), ("sweep",), ("content", "check")):
            with self.subTest(words=words):
                code, _, err = run_command(*words, "--data-dir", self.data, "--log-level", "warn")
                self.assertEqual((code, err), (0, ""))

    def test_it_ends_with_the_command_however_that_ends(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(signal=number), self.running("status", "--watch") as command:
                self.assertIn("Database", command.stdout.readline())
                trace = os.path.join(self.data, "postgres/data/postmaster.pid")
                self.assertTrue(os.path.exists(trace))
                command.send_signal(number)
                command.wait(timeout=60)
                await_true(lambda: not os.path.exists(trace), 60, "PostgreSQL has stopped")


class Unforeseen(unittest.TestCase):
    def test_what_escapes_is_one_sentence_and_a_failure(self):
        """Not even one thread can be started. That limit does not hold for root."""
        options = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        with tempfile.TemporaryDirectory(prefix="restante-e2e-") as folder:
            os.chmod(folder, 0o755)
            program = shutil.copy(BINARY, folder)
            done = subprocess.run(
                [program, "serve", "--database-url", "host=/nowhere"], capture_output=True, text=True, timeout=60,
                env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"},  # looking for leaks takes a thread too
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (1, 1)), cwd="/", **options)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"^restante: unexpected error: .*Resource temporarily unavailable.*\n$")


class Output(unittest.TestCase):
    def test_a_report_that_could_not_be_written_is_a_failure(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([BINARY, "version"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (1, "restante: the output could not be written\n"))

    def test_a_reader_that_has_seen_enough_is_none(self):
        ours, theirs = os.pipe()
        os.close(ours)
        done = subprocess.run([BINARY, "version"], stdout=theirs, stderr=subprocess.PIPE, text=True, timeout=60)
        os.close(theirs)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Spooling(unittest.TestCase):
    def test_a_spool_directory_that_is_not_there_is_refused_at_the_start(self):
        """And not when the first large file comes."""
        code, out, err = run_command("serve", "--database-url", "host=/nowhere", "--spool-dir", "/nowhere/at/all")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("restante: --spool-dir /nowhere/at/all cannot be used: No such file or directory\n", err)

    def test_a_limit_into_which_the_largest_request_does_not_fit_is_warned_about(self):
        with Database() as db:
            for limit, warned in (("104857599", 1), ("104857600", 0)):
                with Server(db.conninfo, "--spool-limit", limit) as server:
                    lines = [line for line in server.log_lines() if line["event"] == "spool_limit_small"]
                    self.assertEqual([line["level"] for line in lines], ["warn"] * warned)


class WaitingForTheDatabase(unittest.TestCase):
    def test_a_signal_to_stop_acts_at_once(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(signal=number), tempfile.TemporaryFile() as log:
                command = [BINARY, "serve", "--database-url", "host=/nowhere", "--listen", "127.0.0.1:0",
                           "--metrics-listen", "127.0.0.1:0"]
                process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log, start_new_session=True)
                try:
                    waiting = lambda: b"waiting_for_database" in os.pread(log.fileno(), 4096, 0)
                    await_true(waiting, 20, "the server to wait for its database")
                    begun = time.monotonic()
                    process.send_signal(number)
                    self.assertEqual(process.wait(timeout=20), -number)
                    self.assertLess(time.monotonic() - begun, 5)
                finally:
                    process.kill()
                    process.wait()


class Schema(unittest.TestCase):
    """A database with the newest schema."""

    def setUp(self):
        self.db = self.enterContext(Database())
        self.assertEqual(self.migrate()[0], 0)
        self.newest = int(self.db.session.value("SELECT max(number) FROM schema_migrations"))

    def migrate(self, *flags):
        return run_command("migrate", "--database-url", self.db.conninfo, *flags)


class MigratingBack(Schema):
    def setUp(self):
        super().setUp()
        workspace = self.db.add_workspace()
        row = (f"INSERT INTO pending_uploads (workspace_id, content, size_bytes, filename, sha256, acked_at)"
               f" VALUES ('{workspace.id}', 'content', 7, 'f.txt', sha256('content'), %s);")
        self.db.session.query(row % "NULL" + row % "NULL" + row % "now()")

    def files(self):
        return int(self.db.session.value("SELECT count(*) FROM pending_uploads"))

    def test_it_is_refused_while_files_wait(self):
        code, out, err = self.migrate("--to", "2")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("would delete 2 waiting files;", err)
        self.assertIn("--yes-lose-files", err)
        self.assertEqual(self.files(), 3)

    def test_a_dry_run_says_it_too(self):
        code, out, _ = self.migrate("--to", "0", "--dry-run")
        self.assertEqual(code, 0)
        self.assertIn("would delete 2 waiting files and 1 workspace\n", out)
        self.assertIn("would undo 0001_workspaces\n", out)
        self.assertEqual(self.files(), 3)

    def test_it_is_done_when_asked_for(self):
        self.assertEqual(self.migrate("--to", "2", "--yes-lose-files")[0], 0)
        self.assertEqual(self.db.session.value("SELECT to_regclass('pending_uploads') IS NULL"), "t")

    def test_receipts_tokens_limits_and_cursors_count_too(self):
        self.db.session.query(
            "UPDATE pending_uploads SET acked_at = now();"
            "DELETE FROM pending_uploads;"
            "INSERT INTO workspace_auth_tokens (id, workspace_id, token_hash, prefix, scope) "
            "SELECT gen_random_uuid(), id, sha256('x'), '12345678', 'upload' FROM workspaces;"
            "INSERT INTO activity_heads (workspace_id, seq, last_at, max_waiting_files) "
            "SELECT id, 0, now(), 5 FROM workspaces;"
            "INSERT INTO inbox_cursors (workspace_id, last_acked_seq) SELECT id, 0 FROM workspaces")
        receipts = int(self.db.session.value("SELECT count(*) FROM upload_outcomes"))
        self.assertGreater(receipts, 0)
        code, _, err = self.migrate("--to", "4")
        self.assertEqual(code, 1)
        self.assertIn(f"would delete {receipts} receipts, 1 cursor, 1 token or grant with a scope or an end and "
                      "1 limit of a workspace; nothing was done", err)
        self.assertEqual(self.db.session.value("SELECT count(*) FROM workspace_auth_tokens WHERE revoked_at IS NULL"
                                               " AND scope = 'upload'"), "1")

    def test_what_drops_no_rows_needs_no_consent(self):
        code, out, err = self.migrate("--to", "6")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("undo 0007_publish_many\n", out)


class OlderSchema(Schema):
    def test_commands_say_what_to_do(self):
        self.assertEqual(self.migrate("--to", "12", "--yes-lose-files")[0], 0)
        for words in (("status",), ("content", "check"), ("content", "move", "--to", "inline"), ("sweep",)):
            with self.subTest(words=words):
                code, _, err = run_command(*words, "--database-url", self.db.conninfo)
                self.assertEqual(code, 1)
                self.assertRegex(err.splitlines()[-1], "^restante: .*the database has no schema or an old one; run `restante migrate`$")


class NewerSchema(Schema):
    """A migration that this program does not know, as a newer server would have recorded it."""

    def add_unknown(self, compatible_from):
        self.db.session.query("INSERT INTO schema_migrations (number, name, checksum, compatible_from) VALUES "
                              f"({self.newest + 1}, 'from the future', 'x', {compatible_from})")

    def assert_refused(self):
        with self.assertRaises(AssertionError) as refusal:
            Server(self.db.conninfo).close()
        self.assertIn("it is older than the database", str(refusal.exception))

    def test_a_server_that_works_with_it_can_be_restarted(self):
        self.add_unknown(self.newest)
        for _ in range(2):
            with Server(self.db.conninfo) as server:
                server.wait_ready()
        self.assertEqual(int(self.db.session.value("SELECT count(*) FROM schema_migrations")), self.newest + 1)

    def test_a_server_that_does_not_is_refused(self):
        for compatible_from in (self.newest + 1, "NULL"):
            with self.subTest(compatible_from=compatible_from):
                self.add_unknown(compatible_from)
                self.assert_refused()
                self.db.session.query("DELETE FROM schema_migrations WHERE name = 'from the future'")

    def test_a_history_without_the_column_is_read_and_brought_up_to_date(self):
        self.assertEqual(self.migrate("--to", str(self.newest - 1))[0], 0)
        self.db.session.query("ALTER TABLE schema_migrations DROP COLUMN compatible_from")
        with Server(self.db.conninfo) as server:
            server.wait_ready()
        self.add_unknown(self.newest)
        with Server(self.db.conninfo) as server:
            server.wait_ready()

    def test_migrating_to_a_version_takes_the_newer_program(self):
        self.add_unknown(self.newest)
        code, _, err = self.migrate("--to", "2")
        self.assertEqual(code, 1)
        self.assertIn("migrate it with a newer one", err)


if __name__ == "__main__":
    unittest.main()
