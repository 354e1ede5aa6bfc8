"""What every content store promises through the API, whichever it is. A class of tests derives from StoreCase and says
with which flags the server is started, and how the bytes can be counted, lost and damaged from outside."""

import contextlib
import datetime
import hashlib
import json
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor, TimeoutError

from forms import PLAIN, form, noise, part
from http_wire import await_true
from inbox_case import InboxCase
from pg_client import Session
from server_process import run_command
from testbed import upload

KIB, MIB = 1 << 10, 1 << 20
OLD_HOUR = "2020-01-01T00"


def hour_of_rows_to_come():
    """Bytes of this hour may still get their row."""
    moment = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=1, minutes=59)
    return moment.strftime("%Y-%m-%dT%H")


class StoreCase(InboxCase):
    place = None         # the name of the store
    sweeping = ("--sweep-interval", "500ms", "--ack-retention", "1ms")
    store_flags = ()     # of the server and of commands
    limits = ("--max-file-bytes", "40MiB", "--max-request-bytes", "80MiB", "--workspace-max-bytes", "200MiB")

    @classmethod
    def setUpClass(cls):
        cls.prepare_store()
        cls.flags = (*cls.store_flags, *cls.sweeping, "--content-store", cls.place, *cls.limits)
        super().setUpClass()

    # What a kind of store has to know.

    @classmethod
    def prepare_store(cls):
        """Makes the place, and the flags that name it."""

    def stored_keys(self):
        raise NotImplementedError

    def lose(self, key):
        raise NotImplementedError

    def damage(self, key):
        """Other bytes of the same length."""
        raise NotImplementedError

    def plant(self, key, content):
        raise NotImplementedError

    # Helpers.

    def row(self, file):
        return self.db.session.query("SELECT content_place, content_key, content IS NULL FROM pending_uploads "
                                     f"WHERE file_id = '{file['file_id']}'")[0]

    def command(self, *words):
        code, out, err = run_command("content", *words, "--database-url", self.db.conninfo, *self.store_flags)
        return code, out, err

    def check(self, *words):
        code, out, err = self.command("check", "--json", *words)
        self.assertEqual(err, "")
        return code, json.loads(out)

    def assert_never_whole(self, file):
        """500, or an answer that is cut short."""
        try:
            status = self.get(self.content_path(file)).status
        except (OSError, EOFError, AssertionError, ValueError):
            status = "cut short"
        self.assertIn(status, (500, "cut short"))

    @contextlib.contextmanager
    def being_fetched(self, files, contents, workspace):
        """Meanwhile all of these are fetched over and over, and are always what they should be."""
        stop, fetched = threading.Event(), []

        def fetch():
            while not stop.is_set():
                for file, content in zip(files, contents):
                    answer = self.get(self.content_path(file), workspace)
                    fetched.append(answer.status == 200 and answer.body == content)

        with ThreadPoolExecutor(2) as readers:
            work = [readers.submit(fetch) for _ in range(2)]
            try:
                yield
            finally:
                stop.set()
            for each in work:
                each.result()
        self.assertGreaterEqual(len(fetched), len(files))
        self.assertNotIn(False, fetched)

    def removals(self):
        return int(self.db.session.query("SELECT count(*) FROM content_removals")[0][0])


class StorePromises:
    """The tests; mixed into a StoreCase."""

    def test_small_files_stay_in_rows_and_large_ones_leave_them(self):
        small = self.stage(noise(256 * KIB, 1))
        self.assertEqual(tuple(self.row(small)), ("inline", None, "f"))
        for size in (256 * KIB + 1, MIB, 3 * MIB, 30 * MIB):
            with self.subTest(size=size):
                content = noise(size, size)
                file = self.stage(content)
                place, key, without = self.row(file)
                self.assertEqual((place, without), (self.place, "t"))
                self.assertTrue(key.endswith("/" + file["file_id"]), key)
                self.assertIn(key, self.stored_keys())
                self.assertEqual(file["sha256"], hashlib.sha256(content).hexdigest())
                path = self.content_path(file)
                self.assertTrue(self.get(path).body == content)
                for spec, first, end in (("0-0", 0, 1), ("-1", size - 1, size), (f"{size // 3}-{size // 2}", size // 3, size // 2 + 1)):
                    answer = self.get(path, headers=[("Range", f"bytes={spec}")])
                    self.assertEqual((answer.status, answer.headers["content-range"]), (206, f"bytes {first}-{end - 1}/{size}"))
                    self.assertTrue(answer.body == content[first:end])

    def test_several_files_of_all_sizes_in_one_request(self):
        contents = [noise(size, size) for size in (10, 300 * KIB, 200 * KIB, 2 * MIB)]
        answer = upload(self.server.address, self.workspace, form(*[part(each) for each in contents]), PLAIN)
        self.assertEqual(answer.status, 200, answer)
        for file, content in zip(answer.json()["files"], contents):
            self.assertTrue(self.get(self.content_path(file)).body == content)

    def test_bytes_go_after_their_row(self):
        file = self.stage(noise(MIB, 2))
        key = self.row(file)[1]
        self.assertEqual(self.post(self.ack_path(file)).status, 200)
        await_true(lambda: key not in self.stored_keys(), 60, "the bytes are removed")
        await_true(lambda: self.removals() == 0, 60, "the queue is empty")
        self.assertEqual(self.get(self.content_path(file)).status, 404)

    def test_a_request_that_is_not_stored_leaves_no_bytes(self):
        before = self.stored_keys()
        self.db.session.query(f"INSERT INTO activity_heads (workspace_id, seq, last_at, max_waiting_bytes) "
                              f"VALUES ('{self.workspace.id}', 0, now(), 1500000)")
        body = form(part(noise(MIB, 3)), part(noise(MIB, 4)))
        chunked = upload(self.server.address, self.workspace, body, PLAIN)
        self.assertEqual(chunked.status, 507, chunked)
        keys = [("Idempotency-Key", "once")]
        first = upload(self.server.address, self.workspace, form(part(noise(MIB, 5))), PLAIN, keys)
        self.assertEqual(first.status, 200, first)
        stored = self.stored_keys()
        self.assertEqual(len(stored - before), 1)
        again = upload(self.server.address, self.workspace, form(part(noise(MIB, 5))), PLAIN, keys)
        self.assertEqual((again.status, again.body), (200, first.body))
        self.assertEqual(self.stored_keys() - before, stored - before)

    def test_lost_bytes_are_never_a_200(self):
        file = self.stage(noise(MIB, 6))
        since = self.server.log_size()
        self.lose(self.row(file)[1])
        answer = self.get(self.content_path(file))
        self.assertEqual((answer.status, answer.json()["code"]), (500, "content_lost"))
        lines = [line for line in self.server.log_lines(since) if line["event"] == "content_lost"]
        self.assertEqual([(line["file_id"], line["level"]) for line in lines], [(file["file_id"], "error")])
        self.assertGreater(self.server.metrics()[f'molecule_content_lost_total{{store="{self.place}"}}'], 0)
        self.assertEqual(self.post(self.ack_path(file)).status, 200)

    def test_damaged_bytes_are_never_whole(self):
        for size in (300 * KIB, 30 * MIB):
            file = self.stage(noise(size, 61))
            since, before = self.server.log_size(), self.server.metrics()
            self.damage(self.row(file)[1])
            self.assert_never_whole(file)
            lines = [line for line in self.server.log_lines(since) if line["event"] == "content_lost"]
            self.assertEqual([(line["file_id"], line["level"]) for line in lines], [(file["file_id"], "error")])
            name = f'molecule_content_lost_total{{store="{self.place}"}}'
            self.assertEqual(self.server.metrics()[name] - before.get(name, 0), 1)

    def test_check_finds_what_is_wrong_and_repairs_leftovers(self):
        self.db.session.query("DELETE FROM pending_uploads")
        workspace = self.db.add_workspace()
        sound, lost, damaged = [self.stage(noise(MIB, seed), workspace=workspace) for seed in (7, 8, 9)]
        self.stage(b"small", workspace=workspace)
        orphan, young = [f"{hour}/{uuid.uuid4()}" for hour in (OLD_HOUR, hour_of_rows_to_come())]
        self.lose(self.row(lost)[1])
        self.damage(self.row(damaged)[1])
        self.plant(orphan, b"nobody's")
        self.plant(young, b"somebody's, soon")
        code, found = self.check()
        self.assertEqual(code, 1)
        self.assertIn(lost["file_id"], found["missing"])
        self.assertIn(damaged["file_id"], found["damaged"])
        self.assertNotIn(sound["file_id"], found["missing"] + found["damaged"])
        self.assertEqual(found["orphans"], [f"{self.place} {orphan}"])
        self.assertIn(orphan, self.stored_keys())
        self.db.session.query(f"DELETE FROM pending_uploads WHERE file_id IN ('{lost['file_id']}', '{damaged['file_id']}')")
        code, found = self.check("--repair")
        self.assertEqual((code, found["orphans_removed"], found["missing"], found["damaged"]), (0, 1, [], []))
        self.assertNotIn(orphan, self.stored_keys())
        self.assertIn(young, self.stored_keys())

    def test_repair_waits_for_transactions_that_may_still_name_leftovers(self):
        """A commit that waits for a synchronous standby is such a one: its row cannot be seen yet."""
        self.db.session.query("DELETE FROM pending_uploads")
        orphan = f"{OLD_HOUR}/{uuid.uuid4()}"
        self.plant(orphan, b"somebody's, perhaps")
        with contextlib.closing(Session(self.db.conninfo)) as other, ThreadPoolExecutor(1) as aside:
            other.query("BEGIN")
            other.query("SELECT pg_current_xact_id()")
            repaired = aside.submit(self.check, "--repair")
            with self.assertRaises(TimeoutError):
                repaired.result(3)
            self.assertIn(orphan, self.stored_keys())
            other.query("COMMIT")
            code, found = repaired.result(60)
        self.assertEqual((code, found["orphans_removed"]), (0, 1), found)
        self.assertNotIn(orphan, self.stored_keys())

    def test_files_are_moved_while_they_are_served(self):
        self.db.session.query("DELETE FROM pending_uploads")
        workspace = self.db.add_workspace()
        contents = [noise(size, size) for size in (100 * KIB, MIB, 5 * MIB)]
        files = [self.stage(content, workspace=workspace) for content in contents]
        for target, places in (("inline", {"inline"}), (self.place, {"inline", self.place})):
            with self.being_fetched(files, contents, workspace):
                code, out, err = self.command("move", "--to", target)
            self.assertEqual((code, err), (0, ""), out)
            self.assertEqual({self.row(file)[0] for file in files}, places)
            for file, content in zip(files, contents):
                self.assertTrue(self.get(self.content_path(file), workspace).body == content)
        await_true(lambda: self.removals() == 0, 60, "what was left behind is removed")
        self.assertEqual({self.row(file)[1] for file in files[1:]} - self.stored_keys(), set())
