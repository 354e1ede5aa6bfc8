"""`restante-client pull` against the real server: what arrives, in which order, what is said and what is acked."""

import json
import math
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import tempfile
import time
import unittest

import forms
from client_case import ClientCase
from client_process import CLIENT, Home, digest_of
from forgetful_disk import ForgetfulDisk
from http_wire import Wire, await_true, request_head
from lying_proxy import LyingProxy
from proxy import Proxy
from server_process import BINARY, Server


def is_running(pid_file):
    try:
        stat_line = pathlib.Path(f"/proc/{int(pid_file.read_text())}/stat").read_text()
        return stat_line.rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def kill_if_there(pid_file):
    if is_running(pid_file):
        os.kill(int(pid_file.read_text()), signal.SIGKILL)


class Once(ClientCase):
    def test_every_file_arrives_once_with_its_bytes_and_is_acked(self):
        contents = [forms.noise(size, size) for size in (1, 1000, 70_000, 300_000, 3_000_000)]
        sent = self.send_files(*contents)
        done = self.home.pull()
        self.assertEqual(done.code, 0, done)
        self.assert_delivered(self.home, *contents)
        self.assertEqual(self.acked(), {file["file_id"] for file in sent})
        self.assertEqual({line["sha256"] for line in done.events("file")}, {file["sha256"] for file in sent})
        self.assertEqual(self.home.partials(), [])
        for path in self.home.inbox.iterdir():
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        again = self.home.pull()
        self.assertEqual((again.code, again.events("file")), (0, []))

    def test_taken_names_get_numbers(self):
        self.home.inbox.mkdir()
        (self.home.inbox / "a.txt").write_text("mine")
        self.send_files(*(b"%d" % number for number in range(20)), names=["a.txt"] * 20)
        self.assertEqual(self.home.pull().code, 0)
        names = set(self.home.files())
        self.assertEqual(names, {"a.txt"} | {f"a ({number}).txt" for number in range(2, 22)})
        self.assertEqual((self.home.inbox / "a.txt").read_text(), "mine")

    def test_messages_come_after_their_files_with_their_paths(self):
        first, second = self.send_files(forms.noise(2_000_000, 1), b"small", names=["a.bin", "b.txt"])
        self.send_message({"kind": "text", "text": "look"},
                          {"kind": "file", "file": {"uri": first["uri"], "name": "a.bin"}},
                          {"url": second["uri"], "filename": "b.txt", "mediaType": "text/plain"})
        done = self.home.pull()
        events = [line["event"] for line in done.lines()]
        self.assertEqual(sorted(events[:3]), ["file", "file", "started"], done)
        parts = done.events("message")[0]["row"]["request_body"]["params"]["message"]["parts"]
        self.assertEqual(parts[1]["file"]["uri"], f"workspace:{self.home.inbox}/a.bin")
        self.assertEqual(parts[2]["url"], f"workspace:{self.home.inbox}/b.txt")
        later = self.send_message({"kind": "file", "file": {"uri": first["uri"]}})
        parts = self.home.pull().events("message")[0]["row"]["request_body"]["params"]["message"]["parts"]
        self.assertEqual(parts[0]["file"]["uri"], f"workspace:{self.home.inbox}/a.bin", "remembered by the next run")

    def test_for_people_paths_and_texts_go_to_stdout(self):
        self.send_files(b"x", names=["a.txt"])
        self.send_message({"kind": "text", "text": "two\nlines \x1b[2J"})
        done = self.home.run("pull", "--once")
        self.assertEqual(done.stdout, f"{self.home.inbox}/a.txt\ntwo\nlines ?[2J\n")
        self.assertEqual(done.stderr, "")

    def test_every_line_has_an_event_and_a_code(self):
        self.send_files(b"x")
        for line in self.home.pull().lines():
            self.assertTrue({"event", "code"} <= set(line), line)

    def test_every_line_parses_whatever_a_message_and_a_name_hold(self):
        body = b'{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"parts":[]},"odd":[1e999,-1e999,5e-324]}}'
        with Wire(self.server.address) as wire:
            wire.send(request_head("POST", f"/workspaces/{self.workspace.id}/a2a", [
                ("Host", "test"), ("Authorization", f"Bearer {self.workspace.token}"),
                ("Content-Type", "application/json"), ("Content-Length", str(len(body)))]) + body)
            taken = wire.read_answer().status
        self.send_files(b"x")
        inbox = os.fsencode(self.home.path) + b"/caf\xe9"
        done = subprocess.run([CLIENT, "pull", "--once", "--json"], capture_output=True, timeout=60, cwd=self.home.path,
                              env={**self.home.variables, "RESTANTE_INTO": os.fsdecode(inbox)})
        self.assertEqual(done.returncode, 0, done)

        def refuse(text):
            raise AssertionError(f"{text} is not JSON")

        lines = [json.loads(line, parse_constant=refuse) for line in done.stdout.decode("utf-8").splitlines()]
        self.assertEqual([line["path"] for line in lines if line["event"] == "file"],
                         [f"{self.home.path}/caf\ufffd/file0.bin"])
        odd = [line["row"]["request_body"]["params"]["odd"] for line in lines if line["event"] == "message"]
        self.assertTrue(all(each is None or math.isfinite(each) for row in odd for each in row), odd)
        self.assertEqual(len(odd), 1 if taken == 200 else 0)

    def test_files_that_were_acked_by_somebody_else_are_passed_over(self):
        sent = self.send_files(b"x", b"y")
        self.assertEqual(self.call("POST", f"/pending-uploads/{sent[0]['file_id']}/ack").status, 200)
        done = self.home.pull()
        self.assertEqual((done.code, len(done.events("gone"))), (0, 1), done)
        self.assert_delivered(self.home, b"y")

    def test_a_wrong_token_is_exit_code_4_and_nothing_else(self):
        self.home.give_token("x" * 43)
        done = self.home.pull()
        self.assertEqual((done.code, done.events("failed")[0]["code"]), (4, "invalid_token"), done)

    def test_a_token_file_that_others_can_read_is_refused(self):
        os.chmod(self.home.variables["RESTANTE_TOKEN_FILE"], 0o644)
        done = self.home.pull()
        self.assertEqual(done.code, 2)
        self.assertIn("chmod 600", done.stdout)

    def test_why_there_is_no_tls_is_said(self):
        with Server(self.db.conninfo, "--listen-tls", "127.0.0.1:0") as server:
            server.wait_ready()
            for address, why, not_why in ((server.tls_address, "--ca-file", "speak TLS"),
                                          (server.address, "does not speak TLS", "--ca-file")):
                done = self.home.pull(RESTANTE_SERVER="https://127.0.0.1:%d" % address[1])
                failed = done.events("failed")[0]
                self.assertEqual((done.code, failed["code"]), (1, "tls_failed"), done)
                self.assertIn(why, failed["error"])
                self.assertNotIn(not_why, failed["error"])
                self.assertEqual(done.events("retry"), [])

    def test_certificates_that_cannot_be_used_are_said_in_words(self):
        no_pem = self.home.path / "no.pem"
        no_pem.write_text("nothing")
        for file, why in ((no_pem, "no certificate"), (self.home.path / "absent", "No such file")):
            done = self.home.pull("--ca-file", str(file))
            failed = done.events("failed")[0]
            self.assertEqual((done.code, failed["code"]), (2, "bad_ca_file"), done)
            self.assertIn(why, failed["error"])
            self.assertNotIn("routines", failed["error"])

    def test_a_token_from_a_command_or_the_environment(self):
        self.send_files(b"x")
        del self.home.variables["RESTANTE_TOKEN_FILE"]
        done = self.home.pull("--token-command", f"echo {self.workspace.token}")
        self.assertEqual((done.code, len(done.events("file"))), (0, 1), done)
        self.assertEqual(self.home.pull(RESTANTE_TOKEN=self.workspace.token).code, 0)

    def test_a_server_that_is_not_there_is_given_up_in_time(self):
        with Home("http://127.0.0.1:1", self.workspace) as home:
            began = time.monotonic()
            done = home.pull("--give-up-after", "1s")
            self.assertEqual(done.code, 5, done)
            self.assertLess(time.monotonic() - began, 15)
            self.assertEqual(done.events("retry")[0]["code"], "connect_failed")

    def test_the_same_verbs_are_in_the_server_program(self):
        self.send_files(b"x")
        self.assertEqual(self.home.pull(binary=BINARY).code, 0)
        self.assert_delivered(self.home, b"x")

    def test_the_client_links_no_libpq(self):
        libraries = subprocess.run(["ldd", CLIENT], capture_output=True, text=True, check=True).stdout
        self.assertIn("libssl", libraries)
        self.assertNotIn("libpq", libraries)


class Following(ClientCase):
    def test_a_file_arrives_while_it_waits(self):
        with self.home.start() as pull:
            pull.wait_for("started")
            self.send_files(b"first")
            self.assertEqual(pull.wait_for("file")["size"], 5)
            self.send_files(b"second")
            self.assertEqual(pull.wait_for("file")["size"], 6)
            self.assertEqual(pull.stop(), 0)
        self.assert_delivered(self.home, b"first", b"second")

    def test_an_interrupt_is_exit_code_130(self):
        with self.home.start() as pull:
            pull.wait_for("started")
            self.assertEqual(pull.stop(2), 130)

    def test_a_hangup_that_is_ignored_stays_ignored(self):
        with self.home.start() as pull:
            pull.wait_for("started")
            self.assertTrue(self.catches(pull, signal.SIGHUP))
        ignore = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            pull = self.home.start()
        finally:
            signal.signal(signal.SIGHUP, ignore)
        with pull:
            pull.wait_for("started")
            self.assertFalse(self.catches(pull, signal.SIGHUP))
            pull.stop()

    def catches(self, pull, number):
        status = pathlib.Path(f"/proc/{pull.process.pid}/status").read_text()
        mask = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
        return bool(int(mask, 16) >> (number - 1) & 1)

    def test_two_pulls_on_one_directory(self):
        with self.home.start() as pull:
            pull.wait_for("started")
            done = self.home.pull()
            self.assertEqual((done.code, done.events("failed")[0]["code"]), (1, "in_use"))
            pull.stop()
        self.assertEqual(self.home.pull().code, 0)

    def test_a_directory_that_is_removed_gets_its_files_when_it_is_back(self):
        with self.home.start() as pull:
            pull.wait_for("started")
            shutil.rmtree(self.home.inbox)
            sent = self.send_files(b"x")
            pull.wait_for("retry", code="directory_gone")
            self.assertEqual(self.acked(), set())
            self.home.inbox.mkdir()
            pull.wait_for("file")
            self.assertEqual(self.acked(), {sent[0]["file_id"]})
            pull.stop()
        self.assert_delivered(self.home, b"x")

    def test_a_directory_that_is_removed_with_the_partial_files_in_it_ends_the_pull(self):
        # On another file system than the home, so that they are there.
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="restante-client-", dir="/dev/shm"))
        inbox = pathlib.Path(folder, "inbox")
        self.home.variables["RESTANTE_INTO"] = str(inbox)
        with self.home.start() as pull:
            pull.wait_for("started")
            self.assertTrue((inbox / ".restante").is_dir())
            shutil.rmtree(inbox)
            self.send_files(b"x")
            pull.wait_for("failed", code="directory_gone")
            self.assertEqual(pull.process.wait(timeout=30), 1)
        self.assertEqual(self.acked(), set())
        self.assertEqual(self.home.pull().code, 0)
        self.assertEqual([path.read_bytes() for path in inbox.iterdir() if path.is_file()], [b"x"])

    def test_a_full_disk_is_said_and_nothing_is_acked_until_there_is_room(self):
        disk = ForgetfulDisk(self.home.path, self.home.path / "disk.log")
        with self.home.start(**disk.variables) as pull:
            pull.wait_for("started")
            disk.full.touch()
            sent = self.send_files(forms.noise(400_000, 1), b"y")
            pull.wait_for("retry", code="disk_full")
            self.assertEqual((self.acked(), self.home.files()), (set(), {}))
            disk.full.unlink()
            pull.wait_for("file")
            pull.wait_for("file")
            pull.stop()
        self.assertEqual(self.acked(), {file["file_id"] for file in sent})
        self.assert_delivered(self.home, forms.noise(400_000, 1), b"y")

    def test_a_large_file_is_fetched_only_when_there_is_room_for_it(self):
        disk = ForgetfulDisk(self.home.path, self.home.path / "disk.log")
        large = forms.noise(2_000_000, 3)
        with LyingProxy(self.server.address) as proxy:
            self.home.variables["RESTANTE_SERVER"] = self.url(proxy.address)
            with self.home.start(**disk.variables) as pull:
                pull.wait_for("started")
                # The partial file is there already, so that only its room is missing.
                partial = next(self.home.path.glob(".local/state/restante/*/partial"))
                proxy.rule = lambda request, reply: reply.replace(503) if "/content" in request.path else None
                sent = self.send_files(large)
                pull.wait_for("retry", code="http_503")
                self.assertTrue((partial / sent[0]["file_id"]).exists())
                disk.full.touch()
                proxy.rule = lambda *_: None
                pull.wait_for("retry", code="disk_full")
                asked = [request for request in proxy.requests if "/content" in request.path]
                pull.wait_for("retry", code="disk_full")
                self.assertEqual([request for request in proxy.requests if "/content" in request.path], asked)
                self.assertEqual(self.acked(), set())
                disk.full.unlink()
                pull.wait_for("file")
                pull.stop()
        self.assert_delivered(self.home, large)

    def test_a_disk_that_is_full_from_the_start_is_said_and_waited_for(self):
        self.send_files(b"x")
        self.assertEqual(self.home.pull().code, 0)
        sent = self.send_files(b"y")
        disk = ForgetfulDisk(self.home.path, self.home.path / "disk.log")
        disk.full.touch()
        done = self.home.pull(**disk.variables)
        self.assertEqual((done.code, done.events("failed")[0]["code"]), (1, "disk_full"), done)
        with self.home.start(**disk.variables) as pull:
            pull.wait_for("retry", code="disk_full")
            disk.full.unlink()
            self.assertEqual(pull.wait_for("file")["file_id"], sent[0]["file_id"], "the journal is the same")
            pull.stop()
        self.assertFalse((self.home.inbox / ".restante").exists())
        self.assert_delivered(self.home, b"x", b"y")

    def test_a_token_that_is_replaced_in_its_file_is_read_again(self):
        good = self.workspace.token
        self.home.give_token("y" * 43)
        os.rename(self.home.path / "token", self.home.path / "source")
        del self.home.variables["RESTANTE_TOKEN_FILE"]
        # The first answer is wrong, the following ones are right.
        script = self.home.path / "token.sh"
        script.write_text(f"cat {self.home.path}/source; echo {good} > {self.home.path}/source\n")
        done = self.home.pull("--token-command", f"sh {script}")
        self.assertEqual(done.code, 0, done)

    def test_it_goes_on_after_the_server_was_away(self):
        with Server(self.db.conninfo) as server:
            server.wait_ready()
            with Home(self.url(server.address), self.workspace) as home, home.start() as pull:
                pull.wait_for("started")
                self.send_files(b"before")
                pull.wait_for("file")
                server.kill()
                pull.wait_for("retry")
                self.assertIsNone(pull.process.poll())
                pull.stop()

    def test_a_server_that_breaks_handshakes_off_is_asked_again(self):
        """As one does that is being restarted: its certificate has nothing to do with it."""
        with Server(self.db.conninfo, "--listen-tls", "127.0.0.1:0") as server, Proxy(server.tls_address) as proxy:
            server.wait_ready()
            certificate = next(pathlib.Path(server.spool_dir).parent.glob("data/**/*cert*.pem"))
            self.home.variables |= {"RESTANTE_SERVER": f"https://127.0.0.1:{proxy.port}",
                                    "RESTANTE_CA_FILE": str(certificate)}
            (self.home.path / "a.txt").write_bytes(b"x")
            proxy.conditions.refuse = True
            with self.home.start() as pull, subprocess.Popen([CLIENT, "send", "--json", "a.txt"], text=True,
                                                             stdout=subprocess.PIPE, env=self.home.variables,
                                                             cwd=self.home.path) as send:
                pull.wait_for("retry", code="connection_broken")
                said = json.loads(send.stdout.readline())
                self.assertEqual((said["event"], said["code"]), ("retry", "connection_broken"))
                proxy.conditions.refuse = False
                pull.wait_for("file")
                pull.stop()
                self.assertEqual(send.wait(timeout=30), 0)
        self.assert_delivered(self.home, b"x")

    def test_a_closed_stdout_ends_it(self):
        self.send_files(b"x")
        pull = subprocess.Popen([CLIENT, "pull", "--json"], stdout=subprocess.PIPE, env=self.home.variables)
        pull.stdout.close()
        self.assertEqual(pull.wait(timeout=30), 1)


class Commands(ClientCase):
    def test_a_command_gets_the_row_and_the_file(self):
        sent = self.send_files(b"hello", names=["a.txt"])[0]
        out = self.home.path / "out"
        command = f'cat "$RESTANTE_FILE"; echo; echo "$RESTANTE_FILE|$RESTANTE_NAME|$RESTANTE_SHA256|' \
                  f'$RESTANTE_WORKSPACE|$RESTANTE_TOKEN"; cat'
        done = self.home.pull("--exec", f"({command}) > {out}", RESTANTE_TOKEN=self.workspace.token)
        self.assertEqual(done.code, 0, done)
        content, facts, row = out.read_text().splitlines()
        self.assertEqual(content, "hello")
        self.assertEqual(facts, f"{self.home.inbox}/a.txt|a.txt|{sent['sha256']}|{self.workspace.id}|")
        self.assertEqual(json.loads(row)["request_body"]["uri"], f"workspace:{self.home.inbox}/a.txt")

    def test_its_output_does_not_disturb_the_lines(self):
        self.send_files(b"x")
        done = self.home.pull("--exec", "echo noise")
        self.assertEqual(len(done.events("file")), 1)
        self.assertIn("noise", done.stderr)

    def test_a_file_is_acked_only_after_its_command_has_succeeded(self):
        sent = self.send_files(b"x")
        mark = self.home.path / "mark"
        command = f"test -e {mark}"
        done = self.home.pull("--exec", command)
        self.assertEqual((done.code, done.events("failed")[0]["code"]), (1, "command_failed"), done)
        self.assertIn("file0.bin: ", done.events("failed")[0]["error"])
        self.assertEqual(self.acked(), set())
        mark.touch()
        done = self.home.pull("--exec", command)
        self.assertEqual(done.code, 0, done)
        self.assertEqual(self.acked(), {sent[0]["file_id"]})
        self.assert_delivered(self.home, b"x")

    def test_a_command_that_takes_too_long_is_killed_with_its_children(self):
        self.send_files(b"x")
        pid = self.home.path / "pid"
        done = self.home.pull("--exec", f"sleep 1000 & echo $! > {pid}; wait", "--exec-timeout", "1s")
        self.assertEqual((done.code, done.events("failed")[0]["code"]), (1, "command_timeout"), done)
        await_true(lambda: not pathlib.Path(f"/proc/{pid.read_text().strip()}/cmdline").exists() or
                   not pathlib.Path(f"/proc/{pid.read_text().strip()}/cmdline").read_bytes(), 10, "the child is gone")

    def test_a_child_that_ignores_sigterm_is_killed_after_its_parent_has_ended(self):
        self.send_files(b"x")
        pid = self.home.path / "pid"
        stubborn = f"""sh -c 'trap "" TERM; echo $$ > {pid}; while :; do sleep 0.1; done' >/dev/null 2>&1 & wait"""
        self.addCleanup(lambda: kill_if_there(pid))
        done = self.home.pull("--exec", stubborn, "--exec-timeout", "1s")
        self.assertEqual((done.code, done.events("failed")[0]["code"]), (1, "command_timeout"), done)
        await_true(lambda: not is_running(pid), 10, "the child is gone")

    def test_a_child_has_its_time_to_end_after_its_parent_has_ended(self):
        self.send_files(b"x")
        pid, mark = self.home.path / "pid", self.home.path / "mark"
        careful = f"""sh -c 'trap "sleep 1; touch {mark}; exit" TERM; echo $$ > {pid}; while :; do sleep 0.1; done' \\
                      >/dev/null 2>&1 & wait"""
        self.addCleanup(lambda: kill_if_there(pid))
        began = time.monotonic()
        done = self.home.pull("--exec", careful, "--exec-timeout", "1s")
        self.assertLess(time.monotonic() - began, 6, "and nobody waits longer than it takes")
        self.assertEqual((done.code, done.events("failed")[0]["code"]), (1, "command_timeout"), done)
        self.assertTrue(mark.exists())
        self.assertFalse(is_running(pid))

    def test_a_command_has_its_time_to_end_when_the_pull_is_stopped(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            with self.subTest(number=number):
                self.send_files(b"x")
                begun, mark = self.home.path / f"begun{number}", self.home.path / f"mark{number}"
                careful = f'trap "sleep 1; touch {mark}; exit 0" TERM; touch {begun}; while :; do sleep 0.1; done'
                with self.home.start("--exec", careful) as pull:
                    await_true(begun.exists, 30, "the command runs")
                    self.assertEqual(pull.stop(number), 130 if number == signal.SIGINT else 0)
                    self.assertEqual([line for line in pull.lines if line["event"] == "retry"], [])
                self.assertTrue(mark.exists())
                self.assertEqual(self.home.pull("--exec", "false").code, 0, "its success is known")

    def test_a_command_that_does_not_end_is_killed_with_the_pull(self):
        self.send_files(b"x", b"y")
        pid = self.home.path / "pid"
        self.addCleanup(lambda: kill_if_there(pid))
        with self.home.start("--exec", f'trap "" TERM; echo $$ >> {pid}; while :; do sleep 0.1; done') as pull:
            await_true(lambda: pid.exists() and pid.read_text().endswith("\n"), 30, "the command runs")
            self.assertEqual(pull.stop(), 0)
        self.assertEqual(len(pid.read_text().splitlines()), 1, "no other was begun")
        self.assertFalse(is_running(pid))

    def run_once_although_the_disk_is_full(self, send, event):
        """The disk is full when the command has succeeded: that cannot be written down, and is tried again alone."""
        disk = ForgetfulDisk(self.home.path, self.home.path / "disk.log")
        runs = self.home.path / "runs"
        with self.home.start("--exec", f"echo x >> {runs}; touch {disk.full}", **disk.variables) as pull:
            send()
            for _ in range(3):
                pull.wait_for("retry", code="disk_full")
            disk.full.unlink()
            await_true(lambda: "\nrow " in self.home.journal(), 10, "the row is noted")
            pull.stop()
            self.assertEqual(runs.read_text(), "x\n")
            self.assertEqual([line["event"] for line in pull.lines].count(event), 1)

    def test_a_file_whose_command_has_succeeded_with_a_full_disk(self):
        self.run_once_although_the_disk_is_full(lambda: self.send_files(b"x"), "file")
        self.assertEqual(len(self.acked()), 1)

    def test_a_message_whose_command_has_succeeded_with_a_full_disk(self):
        self.run_once_although_the_disk_is_full(lambda: self.send_message({"kind": "text", "text": "hi"}), "message")

    def test_no_more_at_once_than_allowed(self):
        self.send_files(*(b"%d" % number for number in range(8)))
        log = self.home.path / "log"
        command = f"echo + >> {log}; sleep 0.1; echo - >> {log}"
        self.assertEqual(self.home.pull("--exec", command, "--exec-parallel", "2", "--parallel", "8").code, 0)
        running = most = 0
        for line in log.read_text().splitlines():
            running += 1 if line == "+" else -1
            most = max(most, running)
        self.assertEqual(most, 2)

    def test_a_run_in_which_every_command_fails_ends(self):
        for _ in range(5):
            self.send_files(*(b"%d" % number for number in range(60)))
        done = self.home.pull("--exec", "false", "--exec-parallel", "8", "--parallel", "8")
        self.assertEqual(done.code, 1)
        self.assertGreaterEqual(len(done.events("failed")), 256)
        self.assertEqual(self.acked(), set())

    def test_a_failing_command_holds_back_neither_other_files_nor_messages(self):
        self.send_files(b"bad", b"good", names=["bad.txt", "good.txt"])
        self.send_message({"kind": "text", "text": "hi"})
        done = self.home.pull("--exec", 'test "$RESTANTE_NAME" != bad.txt')
        self.assertEqual([line["name"] for line in done.events("file")], ["good.txt"], done)
        self.assertEqual(len(done.events("message")), 1)
        done = self.home.pull("--exec", "true")
        self.assertEqual([line["name"] for line in done.events("file")], ["bad.txt"], "tried again by the next run")
        self.assertEqual(done.events("message"), [], "and the message is not told twice")


if __name__ == "__main__":
    unittest.main()
