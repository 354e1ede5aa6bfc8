"""The client with a server that never gives in, and with words that are meant for a terminal."""

import json
import signal
import subprocess
import time
import unittest

import forms
from client_case import ClientCase
from client_process import CLIENT
from lying_proxy import LyingProxy, Reply

PAGE = "/activity?"


def reply_with(status, body):
    reply = Reply(status, {}, b"")
    reply.replace(status, json.dumps(body).encode())
    return reply


class Case(ClientCase):
    def proxy(self, rule=None, before=None):
        proxy = self.enterContext(LyingProxy(self.server.address, rule, before))
        self.home.variables["RESTANTE_SERVER"] = self.url(proxy.address)
        return proxy


class Tokens(Case):
    def test_a_command_that_always_has_another_token_is_not_asked_without_end(self):
        del self.home.variables["RESTANTE_TOKEN_FILE"]
        count = self.home.path / "count"
        command = f"echo x >> {count}; echo token-$(wc -l < {count})"
        proxy = self.proxy()
        (self.home.path / "a.txt").write_text("x")
        for words in (("pull", "--once", "--json"), ("pull", "--json"), ("send", "--json", "a.txt")):
            with self.subTest(words=words):
                before, count_before = len(proxy.requests), len(count.read_text()) if count.exists() else 0
                done = self.home.run(*words, "--token-command", command)
                self.assertEqual((done.code, done.events("failed")[-1]["code"]), (4, "invalid_token"), done)
                self.assertEqual(len(proxy.requests) - before, 2)
                self.assertEqual(len(count.read_text()) - count_before, len("x\n") * 2)

    def test_a_command_that_fails_says_why(self):
        del self.home.variables["RESTANTE_TOKEN_FILE"]
        done = self.home.pull("--token-command", "echo locked >&2; exit 3")
        self.assertEqual((done.code, done.events("failed")[0]["code"]), (4, "token_command_failed"), done)
        self.assertIn("exit code 3", done.events("failed")[0]["error"])
        self.assertIn("locked", done.stderr)

    def test_a_command_that_fails_when_it_is_run_again_says_why(self):
        del self.home.variables["RESTANTE_TOKEN_FILE"]
        mark = self.home.path / "mark"
        done = self.home.pull("--token-command", f"test -e {mark} && exit 3; touch {mark}; echo {'w' * 43}")
        failed = done.events("failed")[0]
        self.assertEqual((done.code, failed["code"]), (4, "invalid_token"), done)
        self.assertIn("The token command failed with exit code 3.", failed["error"])

    def test_a_token_that_is_replaced_while_several_fetches_run(self):
        """Each of them is refused with the old one; the first reads the new one for all."""
        contents = [forms.noise(1000, number) for number in range(8)]
        self.send_files(*contents)
        replaced = []

        def refuse_old(request):
            if not request.path.endswith("/content") and not replaced:
                return None
            if not replaced:
                replaced.append(request)
                self.home.give_token(new)
            if request.headers["Authorization"] != f"Bearer {new}":
                return reply_with(401, {"error": "invalid workspace auth token", "code": "invalid_token"})
        new = self.call("POST", "/tokens", {}).json()["auth_token"]
        self.proxy(before=refuse_old)
        done = self.home.pull("--parallel", "8")
        self.assertEqual(done.code, 0, done)
        self.assert_delivered(self.home, *contents)


class Feeds(Case):
    def test_the_same_page_again_and_again_is_not_read_without_end(self):
        """As a cache in between would answer."""
        self.send_files(b"x")
        pages = []

        def keep(request, reply):
            if PAGE in request.path:
                pages.append(reply)
        proxy = self.proxy(keep, lambda request: pages[0] if pages and PAGE in request.path else None)
        with self.home.start() as pull:
            self.assertEqual(pull.wait_for("retry")["code"], "bad_answer")
            pull.wait_for("retry")
            pull.stop()
        self.assertLess(len(proxy.seen(PAGE)), 12)
        self.assert_delivered(self.home, b"x")

    def test_two_rows_about_one_file_deliver_it_once(self):
        content = forms.noise(900_000, 3)
        sent = self.send_files(content)[0]

        def double(request, reply):
            if PAGE in request.path and "since_seq=0" in request.path:
                row, = json.loads(reply.body)
                reply.replace(200, json.dumps([{**row, "id": "0191d5a0-0000-7000-8000-00000000000%d" % number}
                                               for number in range(4)] + [row]).encode())
        self.proxy(double)
        done = self.home.pull("--parallel", "8")
        self.assertEqual(done.code, 0, done)
        self.assert_delivered(self.home, content)
        self.assertEqual(self.acked(), {sent["file_id"]})

    def test_a_page_that_took_longer_than_giving_up_takes_is_asked_for_again(self):
        self.send_files(b"x")

        def lose_the_first_one_late(request, reply):
            if len(proxy.requests) == 1:
                time.sleep(3)
                reply.cut_after = 0
        proxy = self.proxy(lose_the_first_one_late)
        done = self.home.pull("--give-up-after", "2s")
        self.assertEqual(done.code, 0, done)
        self.assert_delivered(self.home, b"x")

    def test_a_file_that_the_server_has_lost_holds_messages_back_for_a_time(self):
        self.send_files(b"lost", b"good", names=["lost.txt", "good.txt"])
        self.send_message({"kind": "text", "text": "hello"})

        def lose(request, reply):
            if request.path.endswith("/content") and reply.body == b"lost":
                reply.replace(500, b'{"error":"its bytes are gone","code":"content_lost"}')
        self.proxy(lose)
        with self.home.start("--give-up-after", "1s") as pull:
            self.assertEqual(pull.wait_for("message")["row"]["method"], "message/send")
            lost = [line for line in pull.lines if line["event"] == "retry" and line["code"] == "content_lost"]
            self.assertGreaterEqual(len(lost), 2, "it was waited for")
            pull.wait_for("retry", code="content_lost")
            pull.stop()
        self.assertEqual(list(self.home.files()), ["good.txt"])

    def test_a_line_that_breaks_again_and_again_is_no_failure_while_bytes_come(self):
        content = forms.noise(800_000, 5)
        self.send_files(content)

        def cut(request, reply):
            if request.path.endswith("/content"):
                reply.cut_after = 60_000
        proxy = self.proxy(cut)
        done = self.home.pull("--give-up-after", "1s")
        self.assertEqual(done.code, 0, done)
        self.assert_delivered(self.home, content)
        self.assertGreater(len(proxy.seen("/content")), 10)


class Sending(Case):
    def setUp(self):
        super().setUp()
        (self.home.path / "a.txt").write_text("x")

    def test_retry_after_is_obeyed_and_said(self):
        def busy(request):
            if len(proxy.requests) == 1:
                reply = reply_with(503, {"error": "no room", "code": "no_room"})
                reply.headers["Retry-After"] = "2"
                return reply
        proxy = self.proxy(before=busy)
        done = self.home.run("send", "a.txt")
        self.assertEqual(done.code, 0, done)
        first, second = proxy.requests
        self.assertGreaterEqual(second.time - first.time, 2)
        self.assertIn("no room", done.stderr)
        self.assertIn("Trying again in ", done.stderr)

    def test_a_transfer_that_took_longer_than_giving_up_takes_is_repeated(self):
        """How long nothing is decided counts from the first failure."""
        def lose_the_first_one_late(request, reply):
            if len(proxy.requests) == 1:
                time.sleep(3)
                reply.cut_after = 0
        proxy = self.proxy(lose_the_first_one_late)
        done = self.home.run("send", "--json", "a.txt", "--give-up-after", "2s")
        self.assertEqual((done.code, len(proxy.requests)), (0, 2), done)

    def test_an_interrupt_is_exit_code_130(self):
        with subprocess.Popen([CLIENT, "send", "a.txt", "--wait", "acked"], stdout=subprocess.PIPE, text=True,
                              env=self.home.variables, cwd=self.home.path) as send:
            self.assertTrue(send.stdout.readline().startswith("platform-pending:"))
            send.send_signal(signal.SIGINT)
            self.assertEqual(send.wait(timeout=30), 130)
        with subprocess.Popen([CLIENT, "send", "--json", "a.txt", "--wait", "acked"], stdout=subprocess.PIPE, text=True,
                              env=self.home.variables, cwd=self.home.path) as send:
            self.assertEqual(json.loads(send.stdout.readline())["event"], "staged")
            send.send_signal(signal.SIGINT)
            line = json.loads(send.stdout.readline())
            self.assertEqual((line["event"], line["code"]), ("failed", "interrupted"))
            self.assertEqual(send.wait(timeout=30), 130)


class Words(Case):
    def test_what_a_server_says_is_no_other_event(self):
        (self.home.path / "a.txt").write_text("x")
        self.proxy(before=lambda _: reply_with(200, {"files": [{"uri": "u", "event": "failed", "code": "bad"}]}))
        line, = self.home.run("send", "--json", "a.txt").lines()
        self.assertEqual((line["event"], line["code"], line["uri"]), ("staged", "ok", "u"))

    def test_what_a_server_says_steers_no_terminal(self):
        (self.home.path / "a.txt").write_text("x")

        def paint(request):
            if request.method == "POST":
                return reply_with(200, {"files": [{"uri": "\x1b]0;owned\x07\u009b2J", "name": "\x1b[2J"}]})
        self.proxy(before=paint)
        done = self.home.run("send", "a.txt")
        self.assertEqual((done.code, done.stdout), (0, "?]0;owned??2J\n"))
        self.proxy(before=lambda _: reply_with(422, {"error": "\x1b[31mred", "code": "\x1b[1m"}))
        self.assertNotIn("\x1b", self.home.run("send", "a.txt").stderr)
        done = self.home.run("send", "\x1b[2J")
        self.assertEqual(done.code, 1)
        self.assertNotIn("\x1b", done.stderr, "nor the names of files")

    def test_wrong_words_are_a_line_for_those_who_asked_for_lines(self):
        for words, code in ((("pull", "--json", "--sever", "x"), "usage"), (("send", "--json"), "usage"),
                            (("pull", "--json", "--workspace", "x"), "bad_setting")):
            done = self.home.run(*words)
            self.assertEqual((done.code, done.stderr), (2, ""), done)
            line, = done.lines()
            self.assertEqual((line["event"], line["code"]), ("failed", code))

    def test_a_login_for_a_second_workspace(self):
        for name in ("RESTANTE_WORKSPACE", "RESTANTE_TOKEN_FILE", "RESTANTE_INTO"):
            self.home.variables.pop(name)
        done = self.home.run("login", "--register", "--config", "second.conf", "--into", "inbox")
        self.assertEqual(done.code, 0, done)
        self.assertFalse((self.home.path / ".config").exists())
        for name in ("second.conf", "second.conf.token"):
            self.assertEqual((self.home.path / name).stat().st_mode & 0o777, 0o600)
        (self.home.path / "a.txt").write_text("x")
        self.assertEqual(self.home.run("send", "a.txt", "--config", "second.conf").code, 0)
        self.assertEqual(self.home.run("pull", "--once", RESTANTE_CLIENT_CONFIG="second.conf").stdout,
                         f"{self.home.inbox}/a.txt\n")


if __name__ == "__main__":
    unittest.main()
