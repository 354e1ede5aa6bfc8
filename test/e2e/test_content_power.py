#!/usr/bin/env python3
"""The power fails: what was confirmed is in the content directory afterwards, byte for byte. The disk is
forgetful_disk.py, which forgets everything that was not synced; PostgreSQL is on one that does not."""

import pathlib
import tempfile
import threading
import unittest

from content_case import KIB, MIB
from forgetful_disk import ForgetfulDisk
from forms import PLAIN, form, noise, part
from inbox_case import InboxCase
from server_process import Server, run_command
from testbed import Database, upload

SIZES = (257 * KIB, MIB, 3 * MIB)  # in memory, at its limit, in a file from the beginning


class PowerCuts(InboxCase):
    @classmethod
    def setUpClass(cls):
        cls.db = cls.enterClassContext(Database())
        code, _, err = run_command("migrate", "--database-url", cls.db.conninfo)
        assert code == 0, err

    def cut(self, deaf=False, cuts=3):
        """How many confirmed files are not what they were, after a few uploads and a power cut, a few times over."""
        lost = 0
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="restante-content-")))
        disk = ForgetfulDisk(folder, folder.with_suffix(".log"), deaf)
        self.addCleanup(disk.log.unlink, missing_ok=True)
        store = ("--content-store", "directory", "--content-dir", str(folder / "content"))
        confirmed = {}
        for turn in range(cuts):
            with Server(self.db.conninfo, *store, environment=disk.variables) as self.server:
                self.server.wait_ready()
                confirmed.update(self.upload_at_once(turn))
                self.server.kill()
                disk.cut_power()
            with Server(self.db.conninfo, *store) as self.server:
                self.server.wait_ready()
                lost += sum(not self.is_there(file, content) for file, content in confirmed.items())
        return lost

    def upload_at_once(self, turn):
        """Each size by itself and all of them in one request, from several clients, so that syncs are shared."""
        done = {}

        def send(number, sizes):
            contents = [noise(size, f"{turn}-{number}-{size}") for size in sizes]
            answer = upload(self.server.address, self.workspace, form(*[part(each) for each in contents]), PLAIN)
            for file, content in zip(answer.json()["files"] if answer.status == 200 else (), contents):
                done[file["file_id"]] = content

        clients = [threading.Thread(target=send, args=(number, sizes))
                   for number, sizes in enumerate([*[[size] for size in SIZES] * 2, SIZES])]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        self.assertEqual(len(done), 9)
        return done

    def is_there(self, file, content):
        try:
            answer = self.get(f"/pending-uploads/{file}/content")
        except (OSError, EOFError):
            return False
        return answer.status == 200 and answer.body == content

    def test_what_is_confirmed_outlives_the_power(self):
        self.assertEqual(self.cut(), 0)

    def test_a_disk_that_confirms_without_writing_loses_files(self):
        """A test of the test."""
        self.assertGreater(self.cut(deaf=True, cuts=1), 0)


if __name__ == "__main__":
    unittest.main()
