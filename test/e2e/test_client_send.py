"""`restante-client send` and `login` against the real server, and with something in between."""

import json
import os
import pathlib
import pty
import secrets
import signal
import stat
import subprocess
import termios
import threading
import unittest

import forms
import told_tokens
from client_case import ClientCase
from client_process import CLIENT, Home
from lying_proxy import LyingProxy, Reply
from server_process import Server
from testbed import Workspace


def reply_with(status, body):
    reply = Reply(status, {}, b"")
    reply.replace(status, json.dumps(body).encode())
    return reply


class Sending(ClientCase):
    def write(self, name, content):
        path = self.home.path / name
        path.write_bytes(content)
        return str(path)

    def stored(self):
        """(name, original name, type, bytes) of every file, in the order of the feed."""
        return [(row[1], row[5], row[2], row[3]) for row in self.db.files(self.workspace)]

    def test_each_file_gets_a_uri_on_a_line(self):
        done = self.home.run("send", self.write("a.txt", b"one"), self.write("é \"b\".png", b"two"))
        self.assertEqual(done.code, 0, done)
        ids = [row[0] for row in self.db.files(self.workspace)]
        self.assertEqual(done.stdout, "".join(f"platform-pending:{self.workspace.id}/{each}\n" for each in ids))
        self.assertEqual(done.stderr, "")
        self.assertEqual(self.stored()[0], ("a.txt", "a.txt", "text/plain", 3))
        self.assertEqual(self.stored()[1][2:], ("image/png", 3))
        self.assertTrue(self.stored()[1][1].startswith("é "))

    def test_standard_input_is_sent_and_can_be_repeated(self):
        failed = []

        def lose_first(request, reply):
            if not failed:
                failed.append(request)
                reply.cut_after = 0
        with LyingProxy(self.server.address, lose_first) as proxy:
            done = self.home.run("send", "-", "--name", "notes.md", stdin="from a pipe",
                                 RESTANTE_SERVER=self.url(proxy.address))
            self.assertEqual(done.code, 0, done)
            self.assertIn("Trying again", done.stderr)
            keys = {request.headers["Idempotency-Key"] for request in proxy.requests}
            self.assertEqual((len(proxy.requests), len(keys)), (2, 1), "one key for all tries")
        self.assertEqual(self.stored(), [("notes.md", "notes.md", "text/markdown", 11)])

    def test_more_than_one_request_holds_is_sent_in_several(self):
        paths = [self.write(f"{number:03}.bin", b"%d" % number) for number in range(70)]
        self.assertEqual(self.home.run("send", *paths).code, 0)
        self.assertEqual([row[0] for row in self.stored()], [f"{number:03}.bin" for number in range(70)])

    def test_a_server_that_takes_less_in_a_request_gets_more_of_them(self):
        paths = [self.write(f"f{number}", bytes([number]) * 400_000) for number in range(5)]
        with Server(self.db.conninfo, "--max-file-bytes", "900000", "--max-request-bytes", "900000") as server:
            server.wait_ready()
            done = self.home.run("send", *paths, RESTANTE_SERVER=self.url(server.address))
            self.assertEqual((done.code, len(done.stdout.splitlines())), (0, 5), done)
            large = self.write("large", bytes(1_000_000))
            done = self.home.run("send", "--json", large, paths[0], RESTANTE_SERVER=self.url(server.address))
            self.assertEqual((done.code, done.lines()[-1]["code"]), (6, "request_too_large"), done)
        self.assertEqual([name for name, *_ in self.stored()], [f"f{number}" for number in range(5)])
        grant = self.call("POST", "/upload-grants", {"max_requests": 9, "max_bytes": 900_000}).json()["grant"]
        self.home.give_token(grant)
        done = self.home.run("send", "--json", *paths)
        self.assertEqual((done.code, done.lines()[-1]["code"]), (6, "request_too_large"), done)
        self.assertEqual(len(self.stored()), 5, "a part of them would use the grant up")

    def test_one_file_can_be_given_another_name(self):
        done = self.home.run("send", self.write("a.txt", b"x"), "--name", "b.md")
        self.assertEqual(done.code, 0, done)
        self.assertEqual([(name, kind) for name, _, kind, _ in self.stored()], [("b.md", "text/markdown")])

    def test_more_files_than_may_usually_be_open(self):
        paths = [self.write(f"f{number}", b"%d" % number) for number in range(200)]
        words = " ".join(["ulimit -Sn 100; exec", CLIENT, "send", *paths])
        done = subprocess.run(["sh", "-c", words], capture_output=True, text=True, env=self.home.variables, timeout=60)
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 200), done)

    def test_a_message_follows_the_files_and_names_them(self):
        done = self.home.run("send", "--message", "look at this", self.write("a.txt", b"one"))
        self.assertEqual(done.code, 0, done)
        rows = self.call("GET", "/activity?since_seq=0").json()
        self.assertEqual([row["method"] for row in rows], ["chat_upload_receive", "message/send"])
        parts = rows[1]["request_body"]["params"]["message"]["parts"]
        self.assertEqual(parts[0]["text"], "look at this")
        self.assertEqual(parts[1]["file"]["uri"] + "\n", done.stdout)

    def test_a_message_whose_answer_got_lost_is_there_once(self):
        lost = []

        def lose(request, reply):
            if request.path.endswith("/a2a") and not lost:
                lost.append(request)
                reply.cut_after = 0
        with LyingProxy(self.server.address, lose) as proxy:
            done = self.home.run("send", "--message", "x", self.write("a.txt", b"one"),
                                 RESTANTE_SERVER=self.url(proxy.address))
            self.assertEqual((done.code, len(proxy.seen("/a2a"))), (0, 2), done)
        self.assertEqual(len(self.call("GET", "/activity?since_seq=0").json()), 2)

    def test_a_message_that_only_a_hotels_page_has_confirmed_is_sent_again(self):
        pages = [b"<html>Log in, room 101</html>"]

        def portal(request):
            if request.path.endswith("/a2a") and pages:
                reply = Reply(200, {}, b"")
                reply.replace(200, pages.pop())
                return reply
        with LyingProxy(self.server.address, before=portal) as proxy:
            done = self.home.run("send", "--json", self.write("a.txt", b"x"), "--message", "hello",
                                 RESTANTE_SERVER=self.url(proxy.address))
        self.assertEqual((done.code, [line["code"] for line in done.events("retry")]), (0, ["bad_answer"]), done)
        self.assertEqual(len(self.home.pull().events("message")), 1)

    def test_what_the_server_refuses_has_its_exit_code(self):
        empty, small = self.write("empty", b""), self.write("small", b"x")
        done = self.home.run("send", "--json", small, empty)
        failed = done.events("failed")[0]
        self.assertEqual((done.code, failed["code"], failed["details"]), (3, "empty_file", {"filename": "empty"}), done)
        self.assertEqual(self.home.run("send", self.write("large", bytes(26_214_401))).code, 6)
        nobody = Workspace("0191d5a0-0000-7000-8000-000000000001", self.workspace.token)
        self.assertEqual(self.home.run("send", small, "--to", nobody.id).code, 4, "its token is another's")
        self.home.give_token("z" * 43)
        self.assertEqual(self.home.run("send", small).code, 4)

    def test_quota_is_exit_code_6_and_a_file_that_is_not_there_1(self):
        def full(request):
            return reply_with(507, {"error": "too much is waiting", "code": "quota_exceeded", "used": 1, "limit": 1})
        with LyingProxy(self.server.address, before=full) as proxy:
            done = self.home.run("send", "--json", self.write("a", b"x"), RESTANTE_SERVER=self.url(proxy.address))
        failed = done.events("failed")[0]
        self.assertEqual((done.code, failed["code"], failed["status"]), (6, "quota_exceeded", 507))
        self.assertEqual(failed["details"], {"used": 1, "limit": 1})
        self.assertIn("used 1, limit 1", failed["error"])
        done = self.home.run("send", "--json", self.write("a", b"x"), str(self.home.path / "absent"))
        self.assertEqual((done.code, done.events("failed")[0]["code"]), (1, "cannot_read"))
        self.assertEqual(self.stored(), [], "nothing is sent when something cannot be")

    def test_it_gives_up_in_time(self):
        done = self.home.run("send", "--json", self.write("a", b"x"), "--give-up-after", "1s",
                             RESTANTE_SERVER="http://127.0.0.1:1")
        self.assertEqual((done.code, done.events("failed")[0]["code"]), (5, "connect_failed"), done)
        self.assertTrue(done.events("retry"))

    def test_a_large_file_arrives_whole_over_tls(self):
        content = forms.noise(20_000_000, 5)
        with Server(self.db.conninfo, "--listen-tls", "127.0.0.1:0") as server:
            server.wait_ready()
            url = f"https://127.0.0.1:{server.tls_address[1]}"
            path = self.write("big.bin", content)
            done = self.home.run("send", "--json", path, RESTANTE_SERVER=url)
            self.assertEqual((done.code, done.events("failed")[0]["code"]), (1, "tls_failed"), "a stranger's certificate")
            certificate = next(pathlib.Path(server.spool_dir).parent.glob("data/**/*cert*.pem"))
            done = self.home.run("send", path, "--ca-file", str(certificate), RESTANTE_SERVER=url)
            self.assertEqual(done.code, 0, done)
            done = self.home.pull("--ca-file", str(certificate), RESTANTE_SERVER=url)
            self.assertEqual(done.code, 0, done)
        self.assert_delivered(self.home, content)


class Receipts(ClientCase):
    """Of a server with receipts, as the contract has them: what the proxy answers in its place."""

    def send_and_wait(self, until, *states):
        left = list(states)

        def receipt(request):
            if "/uploads/" not in request.path:
                return None
            return reply_with(200, {"file_id": "x", "state": left.pop(0)})
        path = self.home.path / "a.txt"
        path.write_bytes(b"x")
        with LyingProxy(self.server.address, before=receipt) as proxy:
            done = self.home.run("send", "--json", str(path), "--wait", until, RESTANTE_SERVER=self.url(proxy.address))
            self.asked = [request.path for request in proxy.seen("/uploads/")]
        return done

    def test_it_waits_until_the_file_is_acked(self):
        done = self.send_and_wait("acked", "staged", "fetched", "acked")
        self.assertEqual((done.code, len(done.events("acked"))), (0, 1), done)
        self.assertEqual(len(self.asked), 3)
        self.assertIn("until=acked", self.asked[0])

    def test_acked_is_more_than_fetched(self):
        self.assertEqual(self.send_and_wait("fetched", "acked").code, 0)

    def test_a_file_that_expired_was_not_received(self):
        done = self.send_and_wait("acked", "expired")
        self.assertEqual((done.code, done.events("failed")[0]["code"]), (1, "expired"))

    def test_a_server_without_receipts_is_said_in_words(self):
        def old(request):
            if "/uploads/" in request.path:
                return reply_with(404, {"error": "no such path", "code": "no_such_route"})
        path = self.home.path / "a.txt"
        path.write_bytes(b"x")
        with LyingProxy(self.server.address, before=old) as proxy:
            done = self.home.run("send", str(path), "--wait", "acked", RESTANTE_SERVER=self.url(proxy.address))
        self.assertEqual(done.code, 3)
        self.assertIn("gives no receipts", done.stderr)
        self.assertTrue(done.stdout.startswith("platform-pending:"), "the file is staged all the same")


class RealReceipts(ClientCase):
    def test_send_ends_when_a_pull_has_acked(self):
        path = self.home.path / "a.txt"
        path.write_bytes(b"x")
        with self.home.start() as pull:
            pull.wait_for("started")
            done = self.home.run("send", "--json", str(path), "--wait", "acked")
            self.assertEqual((done.code, len(done.events("acked"))), (0, 1), done)
            receipt = done.events("acked")[0]
            self.assertEqual(receipt["file_id"], pull.wait_for("file")["file_id"])
            pull.stop()
        self.assert_delivered(self.home, b"x")

    def test_send_ends_when_somebody_has_fetched(self):
        path = self.home.path / "a.txt"
        path.write_bytes(b"x")
        with subprocess.Popen([CLIENT, "send", "--json", str(path), "--wait", "fetched"], stdout=subprocess.PIPE,
                              text=True, env=self.home.variables) as send:
            alarm = threading.Timer(30, send.kill)
            alarm.start()
            self.addCleanup(alarm.cancel)
            file = json.loads(send.stdout.readline())["file_id"]
            self.assertEqual(self.call("GET", f"/pending-uploads/{file}/content").status, 200)
            receipt = json.loads(send.stdout.readline())
            self.assertEqual((receipt["event"], receipt["file_id"]), ("fetched", file))
            self.assertEqual(send.wait(timeout=30), 0)


class LoggingIn(ClientCase):
    def setUp(self):
        super().setUp()
        for name in ("RESTANTE_SERVER", "RESTANTE_WORKSPACE", "RESTANTE_INTO", "RESTANTE_TOKEN_FILE"):
            self.home.variables.pop(name)
        self.conf = self.home.path / ".config/restante/client.conf"

    def assert_private(self):
        for path in (self.conf, self.conf.parent / "token"):
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)

    def test_registering_leaves_everything_for_the_next_commands(self):
        done = self.home.run("login", "--register", "--name", "laptop", "--server", self.url(), "--into", "inbox")
        self.assertEqual(done.code, 0, done)
        told_tokens.remember((self.conf.parent / "token").read_text().strip())
        self.assert_private()
        (self.home.path / "a.txt").write_text("hello")
        self.assertEqual(self.home.run("send", "a.txt").code, 0)
        self.assertEqual(self.home.run("pull", "--once").stdout, f"{self.home.inbox}/a.txt\n")

    def test_a_new_token_takes_the_place_of_the_command_that_printed_another(self):
        secret = self.home.path / "admin-token"
        secret.write_text(secrets.token_urlsafe(32))
        secret.chmod(0o600)
        with Server(self.db.conninfo, "--admin-token-file", str(secret), "--registration", "admin") as server:
            done = self.home.run("login", "--register", "--server", self.url(server.address), "--into", "inbox",
                                 "--token-command", f"cat {secret}")
            self.assertEqual(done.code, 0, done)
            told_tokens.remember((self.conf.parent / "token").read_text().strip())
            self.assertNotIn("token-command", self.conf.read_text())
            self.assertEqual(self.home.run("pull", "--once").code, 0)

    def test_values_that_the_file_cannot_hold_are_refused_before_anything_is_asked(self):
        with LyingProxy(self.server.address) as proxy:
            for words in (("--into", "in#box"), ("--into", "in\nbox"), ("--into", "inbox "),
                          ("--config", "a#b/client.conf")):
                with self.subTest(words=words):
                    done = self.home.run("login", "--register", "--server", self.url(proxy.address), *words)
                    self.assertEqual(done.code, 2, done)
                    self.assertIn("cannot be stored", done.stderr)
            self.assertEqual(proxy.requests, [])
        self.assertFalse(self.conf.exists())

    def test_nothing_is_registered_when_its_token_could_not_be_stored(self):
        """It is given once."""
        self.conf.parent.parent.mkdir()
        self.conf.parent.write_text("not a directory")
        with LyingProxy(self.server.address) as proxy:
            words = ("login", "--register", "--server", self.url(proxy.address))
            done = self.home.run(*words)
            self.assertEqual((done.code, proxy.requests), (1, []), done)
            self.conf.parent.unlink()
            (self.conf.parent / "token.new").mkdir(parents=True)
            done = self.home.run(*words)
            self.assertEqual((done.code, proxy.requests), (1, []), done)

    def test_a_token_from_standard_input_is_tried_and_stored(self):
        self.conf.parent.mkdir(parents=True)
        self.conf.write_text("# mine\nparallel = 2\nserver = http://old.example\n")
        done = self.home.run("login", "--server", self.url(), "--workspace", self.workspace.id,
                             stdin=told_tokens.remember(self.workspace.token) + "\n")
        self.assertEqual((done.code, done.stdout), (0, self.workspace.id + "\n"), done)
        self.assertEqual(self.conf.read_text().splitlines()[:3], ["# mine", "parallel = 2", f"server = {self.url()}"])
        self.assert_private()
        self.assertEqual(self.home.run("pull", "--once").code, 0)

    def test_a_wrong_token_is_not_stored(self):
        done = self.home.run("login", "--server", self.url(), "--workspace", self.workspace.id, stdin="q" * 43 + "\n")
        self.assertEqual(done.code, 4, done)
        self.assertEqual(list(self.conf.parent.glob("*")), [], "nor is anything left of the try")

    def test_a_token_that_only_a_hotels_page_has_taken_is_not_stored(self):
        portal = Reply(200, {}, b"")
        portal.replace(200, b"<html>Log in, room 101</html>")
        with LyingProxy(self.server.address, before=lambda _: portal) as proxy:
            done = self.home.run("login", "--server", self.url(proxy.address), "--workspace", self.workspace.id,
                                 stdin="q" * 43 + "\n")
        self.assertEqual((done.code, list(self.conf.parent.glob("*"))), (5, []), done)

    def test_a_workspace_that_has_a_token_cannot_be_registered_again(self):
        done = self.home.run("login", "--register", "--server", self.url(), "--workspace", self.workspace.id)
        self.assertEqual(done.code, 4, done)
        self.assertIn("has a token already", done.stderr)
        self.assertFalse(self.conf.exists())

    def mint(self, **fields):
        answer = self.call("POST", "/tokens", fields)
        self.assertEqual(answer.status, 201, answer)
        return told_tokens.remember(answer.json()["auth_token"])

    def log_in(self, token, *words):
        return self.home.run("login", "--server", self.url(), *words, stdin=told_tokens.remember(token) + "\n")

    def test_a_token_that_only_sends_is_stored_for_send_and_said(self):
        answer = self.call("POST", "/upload-grants", {"max_requests": 2})
        for token, what in ((self.mint(scope="upload", expires_in=600), "sends files to workspace"),
                            (answer.json()["grant"], "an upload grant")):
            with self.subTest(what=what):
                done = self.log_in(token)
                self.assertEqual((done.code, done.stdout), (0, self.workspace.id + "\n"), done)
                self.assertIn(what, done.stderr)
                self.assertIn("until ", done.stderr)
                (self.home.path / "a.txt").write_text("hello")
                sent = self.home.run("send", "a.txt")
                self.assertEqual(sent.code, 0, sent)
                pulled = self.home.pull()
                self.assertEqual((pulled.code, pulled.events("failed")[0]["code"]), (4, "insufficient_scope"), pulled)
        before = len(self.db.files(self.workspace))
        refused = self.home.run("send", "--json", "a.txt", "--message", "hello")
        self.assertEqual((refused.code, refused.lines()[-1]["code"]), (4, "insufficient_scope"), refused)
        self.assertEqual(len(self.db.files(self.workspace)), before, "what could not be told of was not sent either")
        self.assertEqual(self.home.run("send", "a.txt").code, 0)
        exhausted = self.home.run("send", "--json", "a.txt")
        self.assertEqual((exhausted.code, exhausted.lines()[-1]["code"]), (4, "grant_exhausted"), exhausted)
        self.assertIn("0 requests, 3 files, 50.0 MiB are left", exhausted.lines()[-1]["error"])
        self.assertIn("2 requests, 5 files, 50.0 MiB are left", done.stderr)

    def test_the_token_of_the_workspace_before_is_kept(self):
        """A server gives it once."""
        self.assertEqual(self.log_in(self.workspace.token).code, 0)
        self.assertEqual(self.log_in(self.workspace.token).stderr, "", "nothing is replaced")
        done = self.home.run("login", "--register", "--server", self.url())
        self.assertEqual(done.code, 0, done)
        told_tokens.remember((self.conf.parent / "token").read_text().strip())
        kept = self.conf.parent / f"token.{self.workspace.id}"
        self.assertIn(str(kept), done.stderr)
        self.assertEqual(kept.read_text().strip(), self.workspace.token)
        self.assertEqual(stat.S_IMODE(kept.stat().st_mode), 0o600)
        self.assertNotIn(self.workspace.id, self.conf.read_text())
        pulled = self.home.pull("--workspace", self.workspace.id, "--token-file", str(kept))
        self.assertEqual(pulled.code, 0, pulled)

    def test_a_token_says_itself_whose_it_is(self):
        done = self.log_in(self.workspace.token)
        self.assertEqual((done.code, done.stdout, done.stderr), (0, self.workspace.id + "\n", ""), done)
        self.assertEqual(self.home.run("pull", "--once").code, 0)

    def test_an_id_in_capitals_is_the_same_workspace(self):
        done = self.log_in(self.workspace.token, "--workspace", self.workspace.id.upper())
        self.assertEqual((done.code, done.stdout), (0, self.workspace.id + "\n"), done)
        sent = self.send_files(b"x")
        self.assertEqual(self.home.run("pull", "--once", "--into", "inbox").code, 0)
        once_more = self.home.run("pull", "--once", "--into", "inbox", "--workspace", self.workspace.id.upper())
        self.assertEqual(once_more.code, 0, once_more)
        self.assertEqual(self.acked(), {file["file_id"] for file in sent})
        states = list((self.home.path / ".local/state/restante").iterdir())
        self.assertEqual(len(states), 1, "one journal, whatever the letters are")

    def test_what_a_token_cannot_do_is_said_at_once_and_it_is_not_stored(self):
        other = self.db.add_workspace()
        for token, words, code in ((self.workspace.token, ("--workspace", other.id), f"not of {other.id}"),
                                   (self.mint(scope="upload"), ("--workspace", other.id), f"not of {other.id}"),
                                   (self.mint(scope="read"), (), "may only read")):
            with self.subTest(words=words):
                done = self.log_in(token, *words)
                self.assertEqual((done.code, done.stdout), (4, ""), done)
                self.assertIn(code, done.stderr)
                self.assertIn(self.workspace.id, done.stderr)
        self.assertFalse(self.conf.exists())

    def test_an_older_server_that_knows_nothing_of_its_tokens(self):
        def before(request):
            if request.path == "/token":
                return reply_with(404, {"error": "no such path", "code": "no_such_route"})
            return None

        with LyingProxy(self.server.address, before=before) as proxy:
            words = ("login", "--server", self.url(proxy.address))
            token = told_tokens.remember(self.workspace.token) + "\n"
            done = self.home.run(*words, stdin=token)
            self.assertEqual(done.code, 2, done)
            self.assertIn("--workspace", done.stderr)
            done = self.home.run(*words, "--workspace", self.workspace.id, stdin=token)
            self.assertEqual(done.code, 0, done)

    def test_an_interrupt_while_the_token_is_asked_for_leaves_the_echo_on(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            ours, theirs = pty.openpty()
            before = termios.tcgetattr(theirs)
            login = subprocess.Popen([CLIENT, "login", "--server", self.url(), "--workspace", self.workspace.id],
                                     stdin=theirs, stdout=theirs, stderr=theirs, env=self.home.variables)
            shown = b""
            while b"Token: " not in shown:
                shown += os.read(ours, 1000)
            self.assertFalse(termios.tcgetattr(theirs)[3] & termios.ECHO)
            login.send_signal(number)
            self.assertEqual(login.wait(timeout=30), -number)
            self.assertEqual(termios.tcgetattr(theirs), before)
            os.close(theirs)
            os.close(ours)

    def test_the_token_is_not_echoed_on_a_terminal(self):
        ours, theirs = pty.openpty()
        login = subprocess.Popen([CLIENT, "login", "--server", self.url(), "--workspace", self.workspace.id],
                                 stdin=theirs, stdout=theirs, stderr=theirs, env=self.home.variables)
        os.close(theirs)
        alarm = threading.Timer(30, login.kill)
        alarm.start()
        self.addCleanup(alarm.cancel)
        shown = b""
        while b"Token: " not in shown:
            shown += os.read(ours, 1000)
        os.write(ours, self.workspace.token.encode() + b"\n")
        try:
            while piece := os.read(ours, 1000):
                shown += piece
        except OSError:
            pass  # the terminal ends with its last user
        os.close(ours)
        self.assertEqual(login.wait(timeout=30), 0)
        self.assertNotIn(self.workspace.token.encode(), shown)
        self.assertIn(self.workspace.id.encode(), shown)


if __name__ == "__main__":
    unittest.main()
