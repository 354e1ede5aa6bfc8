#!/usr/bin/env python3
"""The soak's checker finds what it should: after a correct run, every kind of damage is done directly in the
database or the journal, and must be reported under its name."""

import contextlib
import pathlib
import random
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "soak"))

from checker import Checker  # noqa: E402  (the path comes first)
from clients import Poller, Uploader  # noqa: E402
from journal import Journal  # noqa: E402
from meter import Meter, slope  # noqa: E402
from server_process import Server  # noqa: E402
from stores import Directory  # noqa: E402
from testbed import Database  # noqa: E402


class SmallBed:
    """The parts of a bed that an uploader and a poller need."""

    seed = 1

    def __init__(self, database, server):
        self.address = server.address
        self.workspaces = [database.add_workspace() for _ in range(2)]
        self.journal = Journal()


class Damage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.db = cls.enterClassContext(Database())
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="restante-content-"))
        cls.contents = pathlib.Path(folder, "content")
        server = cls.enterClassContext(Server(cls.db.conninfo, "--content-store", "directory", "--content-dir",
                                              str(cls.contents)))
        cls.bed = SmallBed(cls.db, server.wait_ready())
        uploader = Uploader("up", cls.bed)
        uploader.sizes = lambda: [10, 2000, 300_000]
        for number in range(6):
            uploader.send(number)
        cls.journal = cls.bed.journal
        cls.pollers = [Poller(f"poll{i}", cls.bed, workspace, 7) for i, workspace in enumerate(cls.bed.workspaces)]
        for poller in cls.pollers:
            poller.stopping = lambda: True
            for _ in range(4):
                poller.poll()
        cls.upload = cls.journal.uploads[0]

    def check(self):
        findings = Checker(self.db.session, self.journal, Directory(self.contents)).run()
        return {kind for kind, sentences in findings.items() if sentences}

    @contextlib.contextmanager
    def damaged(self, *statements):
        """Inside a transaction that is rolled back, with triggers disabled."""
        self.db.session.query("BEGIN; SET LOCAL session_replication_role = replica")
        try:
            for statement in statements:
                self.db.session.query(statement)
            yield
        finally:
            self.db.session.query("ROLLBACK")

    def test_nothing_is_found_in_an_honest_run(self):
        self.assertEqual(sum(upload.told is not None for upload in self.journal.uploads), 6)
        self.assertEqual(self.check(), set())

    def test_bytes_that_are_gone_or_others(self):
        path = next(self.contents.glob("*/*"))
        content = path.read_bytes()
        try:
            path.write_bytes(content[:-1] + b"!")
            self.assertEqual(self.check(), {"wrong digest", "truncated"})
            path.unlink()
            self.assertEqual(self.check(), {"lost bytes", "truncated"})
        finally:
            path.write_bytes(content)

    def test_bytes_without_a_row(self):
        path = next(self.contents.glob("*/*")).with_name("0193a1b2-0000-7000-8000-000000000001")
        path.write_bytes(b"nobody's")
        try:
            self.assertEqual(self.check(), {"orphaned bytes"})
        finally:
            path.unlink()

    def test_a_file_that_is_gone(self):
        with self.damaged(f"DELETE FROM pending_uploads WHERE file_id = '{self.upload.told[1]}'"):
            self.assertEqual(self.check(), {"lost", "orphaned"})

    def test_a_whole_upload_that_is_gone(self):
        told = ", ".join(f"'{file}'" for file in self.upload.told)
        with self.damaged(f"DELETE FROM activity_logs WHERE id IN (SELECT activity_id FROM pending_uploads WHERE "
                          f"file_id IN ({told}))", f"DELETE FROM pending_uploads WHERE file_id IN ({told})"):
            self.assertLessEqual({"lost", "ghost", "out of order"}, self.check())

    def test_bytes_that_are_cut(self):
        with self.damaged("UPDATE pending_uploads SET content = substr(content, 1, 5), size_bytes = 5 WHERE "
                          f"file_id = '{self.upload.told[0]}'"):
            self.assertEqual(self.check(), {"truncated"})

    def test_bytes_that_are_others(self):
        with self.damaged("UPDATE pending_uploads SET content = set_byte(content, 0, 255 - get_byte(content, 0)) WHERE "
                          f"file_id = '{self.upload.told[0]}'"):
            self.assertEqual(self.check(), {"truncated"})

    def test_a_file_in_another_workspace(self):
        other = next(w.id for w in self.bed.workspaces if w.id != self.upload.workspace.id)
        with self.damaged(f"UPDATE pending_uploads SET workspace_id = '{other}' WHERE file_id = "
                          f"'{self.upload.told[0]}'"):
            self.assertEqual(self.check(), {"foreign"})

    def test_a_file_that_is_there_twice(self):
        with self.damaged("INSERT INTO pending_uploads (file_id, workspace_id, content, size_bytes, filename, sha256, "
                          "activity_id) SELECT gen_random_uuid(), workspace_id, content, size_bytes, filename, sha256, "
                          f"activity_id FROM pending_uploads WHERE file_id = '{self.upload.told[0]}'"):
            self.assertLessEqual({"duplicated"}, self.check())

    def test_a_file_that_nobody_sent(self):
        with self.damaged("UPDATE pending_uploads SET filename = 'stranger' WHERE file_id = "
                          f"'{self.upload.told[0]}'"):
            self.assertLessEqual({"ghost", "lost"}, self.check())

    def test_a_number_that_is_missing(self):
        with self.damaged("UPDATE activity_logs SET seq = seq + 1000 WHERE seq > 2"):
            self.assertLessEqual({"out of order"}, self.check())

    def test_a_refused_upload_that_was_stored(self):
        told, self.upload.told = self.upload.told, None
        try:
            self.assertEqual(self.check(), {"ghost"})
        finally:
            self.upload.told = told

    def test_what_readers_saw(self):
        """One row missing, one duplicated, one that never existed, two out of order, one of another
        workspace."""
        rows = self.journal.seen["poll0"]
        stranger = ("00000000-0000-4000-8000-000000000000", rows[-1][1] + 1, rows[0][2], None)
        foreign = (rows[0][0], rows[0][1], self.bed.workspaces[1].id, rows[0][3])
        for seen, expected in ((rows[1:], "lost"), (rows + rows[-1:], "duplicated"), (rows + [stranger], "ghost"),
                               (rows[1:2] + rows[:1] + rows[2:], "out of order"), (rows + [foreign], "foreign")):
            with self.subTest(expected):
                self.journal.seen["poll0"] = seen
                self.assertIn(expected, self.check())
        self.journal.seen["poll0"] = rows

    def test_what_listeners_heard(self):
        rows = [row[:3] for row in self.journal.seen["poll0"]]
        stranger = ("00000000-0000-4000-8000-000000000000", rows[-1][1] + 1, rows[0][2])
        foreign = (rows[0][0], rows[0][1], self.bed.workspaces[1].id)
        for heard, expected in ((rows, None), (rows[:1] * 2, "duplicated"), ([stranger], "ghost"),
                                (rows[1::-1], "out of order"), ([foreign], "foreign")):
            with self.subTest(expected):
                self.journal.heard = {("hear0", 0): heard}
                self.assertEqual(self.check(), {expected} if expected else set())
        self.journal.heard = {}

    def test_an_ack_that_was_forgotten(self):
        self.journal.acked = {self.upload.told[0]}
        self.assertEqual(self.check(), {"lost"})
        self.journal.acked = set()


class Slope(unittest.TestCase):
    def test_a_line_has_its_slope_and_one_odd_point_does_not_change_it(self):
        line = [(x, 5 + 2 * x) for x in range(20)]
        self.assertAlmostEqual(slope(line), 2)
        line[7] = (7, 1000)
        self.assertAlmostEqual(slope(line), 2, delta=0.2)

    def test_a_single_point_has_none(self):
        self.assertEqual(slope([(1, 5)]), 0)


class Growth(unittest.TestCase):
    """An hour of samples: memory varies with every request, and only its minimum matters."""

    def measure(self, bytes_an_hour=0, descriptors_an_hour=0, seconds=3600):
        meter, chance = Meter(None), random.Random(1)
        for second in range(seconds):
            passed = second / 3600
            meter.samples.append((second, (40 << 20) + bytes_an_hour * passed + chance.randrange(30 << 20),
                                  50 + int(descriptors_an_hour * passed) + chance.randrange(20)))
        return meter.findings()

    def test_what_stays_is_not_reported(self):
        self.assertEqual(self.measure(), [])

    def test_memory_that_grows_is(self):
        self.assertEqual(len(self.measure(bytes_an_hour=5 << 20)), 1)

    def test_ten_minutes_are_too_short_for_a_verdict_on_memory_and_long_enough_for_descriptors(self):
        self.assertEqual(self.measure(bytes_an_hour=5 << 20, seconds=600), [])
        self.assertEqual(len(self.measure(descriptors_an_hour=60, seconds=600)), 1)

    def test_descriptors_that_grow_are(self):
        self.assertEqual(len(self.measure(descriptors_an_hour=12)), 1)


if __name__ == "__main__":
    unittest.main()
