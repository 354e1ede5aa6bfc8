"""The client killed at every state that it leaves on disk, and its power cut: no file missing, none twice, none
acked before it is safe. `RESTANTE_CLIENT_FILES`, `…_KILLS` and `…_SERVER_KILLS` make the long run longer."""

import os
import random
import time
import unittest

import forms
from client_case import ClientCase
from client_process import CLIENT, Home, digest_of, plain
from forgetful_disk import ForgetfulDisk
from http_wire import await_true
from lying_proxy import LyingProxy
from proxy import Proxy
from server_process import Server, is_sanitized
from testbed import Database, upload

FILES = int(os.environ.get("RESTANTE_CLIENT_FILES", 150))
KILLS = int(os.environ.get("RESTANTE_CLIENT_KILLS", 12))
SERVER_KILLS = int(os.environ.get("RESTANTE_CLIENT_SERVER_KILLS", 4))

# In the order in which a file passes them. Two blocks of 256 KiB are written before the second visit of the first.
POINTS = [("client_partial", 1), ("client_partial", 2), ("client_complete", 1), ("client_noted", 1),
          ("client_placing", 1), ("client_placed", 1), ("client_acked", 1), ("client_placed", 3), ("client_acked", 3)]


class KilledAtEachState(ClientCase):
    def test_the_next_run_goes_on_where_it_was(self):
        if not is_sanitized(CLIENT):
            print("NOT RUN: fault points exist in builds with sanitizers only")
            return
        for point, visit in POINTS:
            for power_cut in (None, "everything", "entries"):
                with self.subTest(point=point, visit=visit, power_cut=power_cut):
                    self.kill_at(point, visit, power_cut)

    def kill_at(self, point, visit, power_cut):
        workspace = self.db.add_workspace()
        contents = [forms.noise(size, size) for size in (600_000, 10, 5_000)]
        sent = self.send_files(*contents, workspace=workspace)
        with Home(self.url(), workspace) as home:
            fault = home.path / "fault"
            fault.write_text(f"{point} kill {visit}\n")
            disk = ForgetfulDisk(home.path, home.path.with_suffix(".log"))
            killed = home.pull("--parallel", "1", RESTANTE_FAULT=str(fault), **(disk.variables if power_cut else {}))
            self.assertEqual(killed.code, -9, f"{point} was not reached: {killed}")
            if power_cut:
                disk.cut_power(entries_only=power_cut == "entries")
            # What is acked is there, whatever happens now.
            acked = [file["sha256"] for file in sent if file["file_id"] in self.acked(workspace)]
            self.assertLessEqual(set(acked), set(home.files().values()))
            done = home.pull()
            self.assertEqual(done.code, 0, done)
            self.assert_delivered(home, *contents)
            self.assertEqual(self.acked(workspace), {file["file_id"] for file in sent})
            self.assertEqual(home.partials(), [])

    def test_a_command_runs_again_only_while_its_success_is_not_known(self):
        if not is_sanitized(CLIENT):
            print("NOT RUN: fault points exist in builds with sanitizers only")
            return
        self.send_files(b"x")
        log = self.home.path / "log"
        fault = self.home.path / "fault"
        fault.write_text("client_acked kill 1\n")
        self.home.pull("--exec", f"echo ran >> {log}", RESTANTE_FAULT=str(fault))
        self.assertEqual(self.home.pull("--exec", f"echo ran >> {log}").code, 0)
        self.assertEqual(log.read_text(), "ran\n")


class PowerCuts(ClientCase):
    def run_with_cuts(self, deaf, cuts=8):
        """Kills the client in the middle and forgets what was not synced, again and again. Returns how many
        acked files were missing after a cut."""
        sent = {}
        lost = 0
        dice = random.Random(cuts)
        disk = ForgetfulDisk(self.home.path, self.home.path.with_suffix(".log"), deaf)
        for cut in range(cuts):
            for number in range(6):
                content = forms.noise(dice.choice((10, 3_000, 40_000, 600_000)), dice.random())
                file = self.send_files(content, names=["same.bin" if number % 2 else f"f{cut}-{number}.bin"])[0]
                sent[file["file_id"]] = file["sha256"]
            with self.home.start(**disk.variables) as pull:
                for _ in range(dice.randrange(1, 5)):
                    pull.wait_for("file")
                pull.kill()
            disk.cut_power()
            there = set(self.home.files().values())
            lost += sum(sent[file] not in there for file in self.acked())
        if not deaf:
            done = self.home.pull()
            self.assertEqual(done.code, 0, done)
            self.assertEqual(self.acked(), set(sent))
            self.assertEqual(sorted(self.home.files().values()), sorted(sent.values()))
        return lost

    def test_what_is_acked_survives_and_nothing_comes_twice(self):
        self.assertEqual(self.run_with_cuts(deaf=False), 0)

    def test_this_test_notices_a_client_that_does_not_sync(self):
        self.assertGreater(self.run_with_cuts(deaf=True, cuts=2), 0)


class FailedSyncs(ClientCase):
    def test_bytes_of_which_a_sync_has_failed_are_fetched_again(self):
        """The system has dropped them, and the next sync of the same file succeeds."""
        content = forms.noise(5_000, 1)
        sent = self.send_files(content)[0]
        disk = ForgetfulDisk(self.home.path, self.home.path.with_suffix(".log"))
        disk.bad.write_text(f"/partial/{sent['file_id']}")
        failed = self.home.pull(**disk.variables)
        self.assertEqual((failed.code, failed.events("failed")[0]["code"]), (1, "io_error"), failed)
        self.assertEqual((self.acked(), self.home.files()), (set(), {}))
        self.assertFalse(disk.bad.exists())
        self.assertEqual(self.home.pull(**disk.variables).code, 0)
        self.assertEqual(self.acked(), {sent["file_id"]})
        disk.cut_power()
        self.assert_delivered(self.home, content)


class LongRun(ClientCase):
    """The server is behind something that lies, and that behind a line that is slow enough for a backlog, so that what
    breaks finds a client at work. Its disk forgets what was not synced whenever it is killed."""

    def test_every_file_arrives_once_while_client_server_and_network_fail(self):
        dice = random.Random(FILES)
        sizes = [dice.choice((1, 100, 10_000, 100_000, 1_000_000)) for _ in range(FILES - FILES // 100 - 1)]
        sizes += [26_214_400] * (FILES // 100 + 1)
        dice.shuffle(sizes)
        self.expected = {}
        self.digests = {}  # of what was seen in the directory
        self.busy_kills = self.contents = self.lies = 0
        with Server(self.db.conninfo) as server, LyingProxy(server.address, self.lie) as liar, \
                Proxy(liar.address) as line, Home(self.url(("127.0.0.1", line.port)), self.workspace) as home:
            server.wait_ready()
            line.conditions.latency = 0.01
            line.conditions.bandwidth = 8_000_000
            disk = ForgetfulDisk(home.path, home.path.with_suffix(".log"))
            self.addCleanup(disk.log.unlink, missing_ok=True)
            events = ["client"] * KILLS + ["server"] * SERVER_KILLS + ["network"] * SERVER_KILLS
            dice.shuffle(events)
            every = max(1, len(sizes) // (len(events) + 1))
            pull = home.start(**disk.variables)
            try:
                for number, size in enumerate(sizes):
                    content = forms.noise(size, number)
                    name = f"name{number % 7}.bin"
                    file = self.send_files(content, names=[name])[0]
                    self.expected[file["file_id"]] = (digest_of(content), name)
                    if number % every == every - 1 and events:
                        # At any moment of what is under way, not always between two files.
                        time.sleep(dice.random() * 0.2)
                        what = events.pop()
                        if what == "client":
                            pull = self.cut_power_of(pull, home, disk)
                            continue
                        if what == "server":
                            server.kill()
                            server.start()
                            liar.upstream = server.address
                        line.cut(reset=True)
                line.conditions.latency, line.conditions.bandwidth = 0, None
                await_true(lambda: self.acked() == set(self.expected), 300, "every file is acked")
                self.assertEqual(pull.stop(), 0)
            finally:
                pull.kill()
            found = [(digest, plain(name)) for name, digest in home.files().items()]
            self.assertEqual(sorted(found), sorted(self.expected.values()))
            self.assertEqual(home.partials(), [])
        print(f"{len(sizes)} files, {sum(sizes) >> 20} MiB, seed {FILES}: {KILLS} power cuts of the client, "
              f"{self.busy_kills} of them with files to fetch; {SERVER_KILLS} kills of the server, {self.lies} wrong bytes",
              flush=True)
        self.assertGreaterEqual(self.busy_kills, KILLS // 2, "the client had nothing to do")
        self.assertGreater(self.lies, 0)

    def lie(self, request, reply):
        """One byte of every twentieth content."""
        if request.path.endswith("/content") and reply.status in (200, 206) and reply.body:
            self.contents += 1
            if self.contents % 20 == 0:
                self.lies += 1
                at = len(reply.body) // 2
                reply.body = reply.body[:at] + bytes([reply.body[at] ^ 1]) + reply.body[at + 1:]

    def cut_power_of(self, pull, home, disk):
        pull.kill()
        acked = self.acked()
        self.busy_kills += acked != set(self.expected)
        disk.cut_power()
        there = {self.digest_in(path) for path in home.inbox.iterdir() if path.is_file()}
        self.assertLessEqual({self.expected[file][0] for file in acked}, there, "acked before it was safe")
        return home.start(**disk.variables)

    def digest_in(self, path):
        """Read once while it does not change: there are gigabytes."""
        facts = path.stat()
        key = (path.name, facts.st_ino, facts.st_size, facts.st_mtime_ns)
        if key not in self.digests:
            self.digests[key] = digest_of(path.read_bytes())
        return self.digests[key]


if __name__ == "__main__":
    unittest.main()
