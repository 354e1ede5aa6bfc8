#!/usr/bin/env python3
"""Bytes of files in a directory: what every store promises, and what only a directory can be blamed for."""

import contextlib
import fcntl
import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import unittest
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "soak"))

import test_inbox_content
from content_case import KIB, MIB, OLD_HOUR, StoreCase, StorePromises
from disks import SmallDisk
from faulty_server import FaultyServer
from forms import PLAIN, form, noise, part
from http_wire import Wire, await_true
from server_process import Server, run_command
from testbed import Database, upload, upload_head


def keys_in(folder):
    return {f"{hour.name}/{file.name}" for hour in pathlib.Path(folder).iterdir() if hour.is_dir()
            for file in hour.iterdir()}


class DirectoryCase(StoreCase):
    place = "directory"

    @classmethod
    def prepare_store(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="restante-content-")))
        cls.content = cls.folder / "content"
        cls.store_flags = ("--content-dir", str(cls.content))

    def stored_keys(self):
        return keys_in(self.content)

    def lose(self, key):
        (self.content / key).unlink()

    def damage(self, key):
        with open(self.content / key, "r+b") as file:
            file.write(b"other bytes")

    def plant(self, key, content):
        path = self.content / key
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.write_bytes(content)


class Promises(StorePromises, DirectoryCase):
    pass


class Hostile(DirectoryCase):
    def test_only_its_user_can_read_it(self):
        file = self.stage(noise(MIB, 1))
        key = self.content / self.row(file)[1]
        for path, mode in ((self.content, 0o700), (key.parent, 0o700), (key, 0o600)):
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), mode, path)

    def test_a_directory_that_others_can_read_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            code, _, err = run_command("serve", "--database-url", self.db.conninfo, "--content-store", "directory",
                                       "--content-dir", folder, "--listen", "127.0.0.1:0")
        self.assertEqual(code, 1)
        self.assertIn("chmod 700", err)

    @unittest.skipIf(os.geteuid() != 0, "only root can use what belongs to others")
    def test_root_does_not_write_what_the_server_could_not_read(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chown(folder, 65534, 65534)
            code, _, err = run_command("content", "move", "--to", "directory", "--database-url", self.db.conninfo,
                                       "--content-dir", folder)
        self.assertEqual(code, 1)
        self.assertIn("belongs to the user nobody", err)

    def test_symlinks_are_not_followed(self):
        secret = self.folder / "secret"
        secret.write_bytes(noise(MIB, 2))
        file = self.stage(noise(MIB, 3))
        path = self.content / self.row(file)[1]
        path.unlink()
        path.symlink_to(secret)
        self.assertEqual(self.get(self.content_path(file)).json()["code"], "content_lost")

        other = self.stage(noise(MIB, 4))
        hour = (self.content / self.row(other)[1]).parent
        elsewhere = self.folder / "elsewhere"
        shutil.move(hour, elsewhere)
        hour.symlink_to(elsewhere)
        self.assertEqual(self.get(self.content_path(other)).json()["code"], "content_lost")
        hour.unlink()
        shutil.move(elsewhere, hour)
        self.assertEqual(self.get(self.content_path(other)).status, 200)

    def test_a_file_that_shrinks_while_it_is_sent_is_cut_and_not_stamped(self):
        file = self.stage(noise(30 * MIB, 5))
        path = self.content / self.row(file)[1]
        with Wire(self.server.address, receive_buffer=256 * KIB) as wire:
            wire.send(self.head("GET", self.content_path(file), headers=[("Connection", "close")]))
            wire._read(1000)
            os.truncate(path, 10)
            with self.assertRaises((ConnectionError, EOFError, AssertionError, OSError)):
                wire._read(30 * MIB)
        rows = self.db.session.query(f"SELECT fetched_at IS NULL FROM pending_uploads WHERE file_id = '{file['file_id']}'")
        self.assertEqual(rows[0][0], "t")

    def test_what_is_being_sent_outlives_its_row(self):
        content = noise(30 * MIB, 6)
        file = self.stage(content)
        key = self.row(file)[1]
        with Wire(self.server.address, receive_buffer=256 * KIB, timeout=60) as wire:
            wire.send(self.head("GET", self.content_path(file), headers=[("Connection", "close")]))
            await_true(lambda: any(key in target for target in self.server.descriptors()), 20, "the file is open")
            self.assertEqual(self.post(self.ack_path(file)).status, 200)
            await_true(lambda: key not in self.stored_keys(), 60, "the bytes have lost their name")
            self.assertTrue(wire.read_answer().body == content)


class Found(DirectoryCase):
    """What lies in the data directory without being named may be the files of another database."""

    def test_nothing_is_removed_from_a_directory_that_nobody_has_named(self):
        orphan = f"{OLD_HOUR}/{uuid.uuid4()}"
        self.plant(orphan, b"somebody's")
        said = run_command("content", "check", "--repair", "--database-url", self.db.conninfo, "--data-dir",
                           str(self.folder))
        self.assertEqual((said[0], said[1].splitlines()[0]), (1, f"orphan directory {orphan}"))
        self.assertIn("neither --content-store nor --content-dir names", said[2])
        self.assertIn(orphan, self.stored_keys())
        with Server(self.db.conninfo) as server:
            server.kill()
            os.makedirs(server.data_dir + "/content", 0o700)
            server.start()
            await_true(lambda: any(line["event"] == "content_leftovers_kept" for line in server.log_lines()), 20,
                       "the server says what it leaves alone")
        code, found = self.check("--repair")
        self.assertEqual((code, found["orphans_removed"]), (0, 1))


class Unreadable(DirectoryCase):
    """A file that the disk does not give out."""

    sweeping = ()

    @contextlib.contextmanager
    def leased(self, path):
        """Opening it fails, because its opener would have to wait for us; the kernel lets it wait for 45 s at most."""
        before = signal.signal(signal.SIGIO, signal.SIG_IGN)
        file = os.open(path, os.O_RDWR)

        def take():
            with contextlib.suppress(BlockingIOError):
                fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
                return True

        try:
            await_true(take, 20, "nobody has the file open")
            yield
        finally:
            os.close(file)
            signal.signal(signal.SIGIO, before)

    def test_it_is_named_and_the_others_are_looked_at(self):
        files = [self.stage(noise(MIB, seed)) for seed in (41, 42, 43)]
        which = files[0]["file_id"]
        with self.leased(self.content / self.row(files[0])[1]):
            code, found = self.check()
            self.assertEqual((code, found["files"], found["unreadable"], found["missing"] + found["damaged"]),
                             (1, 3, [which], []))
            code, out, err = self.command("move", "--to", "inline", "--json")
            self.assertEqual((code, err), (1, ""))
            self.assertEqual(json.loads(out), {"moved": 2, "too_large": [], "lost": [], "unreadable": [which]})
        self.assertEqual(self.command("move", "--to", "inline")[0], 0)


class Large(DirectoryCase):
    """./check soak takes a whole GiB."""

    size = int(os.environ.get("RESTANTE_LARGE_MIB", "80")) * MIB
    sweeping = ()
    limits = ("--max-file-bytes", str(size), "--max-request-bytes", str(2 * size), "--workspace-max-bytes", "0",
              "--spool-limit", str(4 * size))

    def test_whole_and_in_parts_before_and_after_a_start(self):
        content = noise(MIB, 71) * (self.size // MIB - 1) + noise(MIB, 72)
        file = self.stage(content)
        middle = self.size // 2
        for _ in range(2):
            answer = self.get(self.content_path(file), headers=[("Range", f"bytes={middle - 5}-{middle + 4}")])
            self.assertTrue(answer.body == content[middle - 5:middle + 5])
            self.assertTrue(self.get(self.content_path(file)).body == content)
            self.server.kill()
            self.server.start()
            self.server.wait_ready()


class Damaged(DirectoryCase):
    """Bytes that do not match their digest are never an answer that looks whole."""

    small, large = 700 * KIB, 30 * MIB

    def staged(self, size, seed):
        file = self.stage(noise(size, seed))
        return file, self.content / self.row(file)[1]

    def flip(self, path, at):
        with open(path, "r+b") as stored:
            stored.seek(at)
            byte = stored.read(1)
            stored.seek(at)
            stored.write(bytes([byte[0] ^ 1]))

    def lost(self):
        return self.server.metrics().get('molecule_content_lost_total{store="directory"}', 0)

    def fetch_raw(self, file, headers=()):
        """Everything up to the end of the connection: the status, and the body without any check of its length."""
        with Wire(self.server.address, timeout=60) as wire:
            wire.send(self.head("GET", self.content_path(file), headers=[*headers, ("Connection", "close")]))
            received = bytearray()
            try:
                while piece := wire.socket.recv(1 << 20):
                    received += piece
            except ConnectionResetError:
                pass
        head, _, body = received.partition(b"\r\n\r\n")
        return int(head[9:12]) if head else None, bytes(body)

    def assert_lost(self, file, headers=(), cut=False):
        """500, or for a large file a 200 that is cut; reported once; and not counted as fetched."""
        before, since = self.lost(), self.server.log_size()
        status, body = self.fetch_raw(file, headers)
        if cut:
            self.assertEqual(status, 200)
            self.assertLess(len(body), file["size"])
        else:
            self.assertEqual(status, 500)
            self.assertIn(b"content_lost", body)
        self.assertEqual(self.lost() - before, 1)
        lines = [line for line in self.server.log_lines(since) if line["event"] == "content_lost"]
        self.assertEqual([(line["file_id"], line["level"], line["store"]) for line in lines],
                         [(file["file_id"], "error", "directory")])
        rows = self.db.session.query(f"SELECT fetched_at IS NULL FROM pending_uploads WHERE file_id = '{file['file_id']}'")
        self.assertEqual(rows[0][0], "t")

    def test_one_flipped_bit(self):
        for size in (self.small, self.large):
            for at in (0, size // 2, size - 1):
                with self.subTest(size=size, at=at):
                    file, path = self.staged(size, at)
                    self.flip(path, at)
                    self.assert_lost(file, cut=size == self.large)
                    self.flip(path, at)
                    self.assertTrue(self.get(self.content_path(file)).body == noise(size, at))

    def test_a_part_of_a_damaged_file(self):
        """Also a part that is itself undamaged: the file is not the one that was stored."""
        for size in (self.small, self.large):
            with self.subTest(size=size):
                file, path = self.staged(size, 21)
                self.flip(path, size - 1)
                for part_of in ("0-0", "-1", f"1-{size - 1}"):
                    self.assert_lost(file, [("Range", f"bytes={part_of}")])

    def test_other_sizes(self):
        for size in (self.small, self.large):
            with self.subTest(size=size):
                file, path = self.staged(size, 22)
                os.truncate(path, size - 1)
                self.assert_lost(file)
                os.truncate(path, size + 1)
                self.assert_lost(file)
                os.truncate(path, 0)
                self.assert_lost(file, [("Range", "bytes=0-9")])

    def test_another_file_in_its_place(self):
        for size in (self.small, self.large):
            with self.subTest(size=size):
                file, path = self.staged(size, 23)
                stranger = self.folder / "stranger"
                stranger.write_bytes(noise(size, 24))
                os.replace(stranger, path)
                self.assert_lost(file, cut=size == self.large)

    def test_two_files_of_ours_that_were_swapped(self):
        """Both are known to the server, by other digests."""
        (one, one_path), (two, two_path) = [self.staged(self.small, seed) for seed in (25, 26)]
        aside = self.folder / "aside"
        os.rename(one_path, aside)
        os.rename(two_path, one_path)
        os.rename(aside, two_path)
        self.assert_lost(one)
        self.assert_lost(two)

    def test_what_was_only_touched_is_served(self):
        for size in (self.small, self.large):
            file, path = self.staged(size, 27)
            for headers, wanted in (((), noise(size, 27)), ([("Range", "bytes=5-9")], noise(size, 27)[5:10])):
                os.utime(path)
                for _ in range(2):
                    self.assertTrue(self.get(self.content_path(file), headers=headers).body == wanted)

    def test_files_of_a_server_before(self):
        """Nothing is known after a start: every file is compared once, whole or in parts, by many at a time."""
        (sound, _), (part_of, _), (damaged, path) = [self.staged(self.large, seed) for seed in (28, 29, 30)]
        self.server.kill()
        self.flip(path, 3 * MIB)
        self.server.start()
        self.server.wait_ready()
        self.assert_lost(damaged, cut=True)
        self.assert_lost(damaged, [("Range", "bytes=0-9")])
        for _ in range(2):
            self.assertTrue(self.get(self.content_path(sound)).body == noise(self.large, 28))
        right = []

        def fetch_part(first):
            headers = [("Range", f"bytes={first}-{first + 99}")]
            answer = self.get(self.content_path(part_of), headers=headers)
            right.append(answer.status == 206 and answer.body == content[first:first + 100])

        content = noise(self.large, 29)
        readers = [threading.Thread(target=fetch_part, args=(i * MIB,)) for i in range(16)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        self.assertEqual(right, [True] * 16)


class Full(DirectoryCase):
    """A small disk, filled and made read-only."""

    @classmethod
    def prepare_store(cls):
        if os.geteuid() != 0:
            raise unittest.SkipTest("NOT RUN: only root may mount the small tmpfs that this test fills")
        cls.disk = cls.enterClassContext(SmallDisk("12m"))
        shutil.chown(cls.disk.folder, os.geteuid(), os.getegid())
        cls.content = pathlib.Path(cls.disk.folder) / "content"
        cls.store_flags = ("--content-dir", str(cls.content))

    def degraded(self):
        answer = self.server.get("/readyz")
        self.assertEqual(answer.status, 200, answer)
        return answer.json().get("degraded", [])

    def assert_refused_then_taken(self, end):
        before = self.db.counts()
        content = noise(2 * MIB, 7)
        refused = upload(self.server.address, self.workspace, form(part(content)), PLAIN)
        self.assertEqual((refused.status, refused.json()["code"]), (503, "content_store_unavailable"))
        self.assertIn("retry-after", refused.headers)
        self.assertEqual(self.db.counts(), before)
        await_true(self.degraded, 20, "/readyz tells")
        self.assertRegex(self.degraded()[0], "^content store: ")
        small = self.stage(noise(100 * KIB, 8))
        self.assertTrue(self.get(self.content_path(small)).body == noise(100 * KIB, 8))
        # A body that cannot be made of small files only is refused before it is read.
        with Wire(self.server.address) as wire:
            wire.send(upload_head(self.workspace, PLAIN, 30 * MIB, [("Expect", "100-continue")]))
            self.assertEqual(wire.read_answer().status, 503)
        end()
        await_true(lambda: not self.degraded(), 20, "/readyz is content again")
        self.assertTrue(self.get(self.content_path(self.stage(content))).body == content)

    def test_full(self):
        kept = self.stage(noise(MIB, 9))
        self.disk.fill()
        self.assertTrue(self.get(self.content_path(kept)).body == noise(MIB, 9))
        self.assert_refused_then_taken(self.disk.empty)

    def test_the_last_of_it_is_left_to_others(self):
        """Free space above the smallest that is needed is not enough: 5 % of the disk are kept."""
        disk = os.statvfs(self.disk.folder)
        keeps = disk.f_blocks * disk.f_frsize // 20
        with open(os.path.join(self.disk.folder, "filler"), "wb") as filler:
            os.posix_fallocate(filler.fileno(), 0, disk.f_bavail * disk.f_frsize - MIB - keeps // 2)
        await_true(self.degraded, 20, "/readyz tells")
        self.disk.empty()
        await_true(lambda: not self.degraded(), 20, "/readyz is content again")

    def test_read_only(self):
        kept = self.stage(noise(MIB, 10))
        remount = ["mount", "-o"]
        subprocess.run([*remount, "remount,ro", self.disk.folder], check=True)
        self.assertTrue(self.get(self.content_path(kept)).body == noise(MIB, 10))
        self.assert_refused_then_taken(
            lambda: subprocess.run([*remount, "remount,rw", self.disk.folder], check=True))


class AsBefore(test_inbox_content.Content):
    """Ranges, conditions, stamps, slow clients: the same answers as from the database."""

    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="restante-content-"))
        cls.flags = (*cls.flags, "--content-store", "directory", "--content-dir", folder + "/content",
                     "--content-inline-max", "0")
        super().setUpClass()


if __name__ == "__main__":
    unittest.main()
