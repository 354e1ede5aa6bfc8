"""The client with a server, or something in between, that lies, cuts, delays and refuses."""

import json
import time
import unittest

import forms
from client_case import ClientCase
from client_process import Home, digest_of
from http_wire import await_true
from lying_proxy import LyingProxy, Reply
from proxy import Proxy
from server_process import Server

BODY = forms.noise(700_000, 7)


def is_content(request):
    return request.path.endswith("/content")


class First:
    """Applies a lie to the first so many answers that it is meant for."""

    def __init__(self, lie, times=1, when=is_content):
        self.lie, self.left, self.when = lie, times, when

    def __call__(self, request, reply):
        if self.left and self.when(request):
            self.left -= 1
            self.lie(request, reply)


class Case(ClientCase):
    def proxy(self, rule=None, before=None):
        proxy = self.enterContext(LyingProxy(self.server.address, rule, before))
        self.home.variables["RESTANTE_SERVER"] = self.url(proxy.address)
        return proxy

    def assert_it_arrives_in_the_end(self, rule):
        sent = self.send_files(BODY)
        proxy = self.proxy(rule)
        done = self.home.pull()
        self.assertEqual(done.code, 0, done)
        self.assert_delivered(self.home, BODY)
        self.assertEqual(self.acked(), {sent[0]["file_id"]})
        self.assertEqual(len(proxy.seen("/ack", "POST")), 1)
        return proxy, done


class LiesAboutFiles(Case):
    def test_wrong_bytes(self):
        def flip(_, reply):
            reply.body = reply.body[:-1] + bytes([reply.body[-1] ^ 1])
        proxy, done = self.assert_it_arrives_in_the_end(First(flip))
        self.assertEqual(done.events("retry")[0]["code"], "digest_mismatch")
        self.assertNotIn("Range", proxy.seen("/content")[1].headers, "nothing of the wrong bytes is kept")

    def test_wrong_bytes_every_time_are_never_placed_and_never_acked(self):
        self.send_files(BODY)
        self.proxy(First(lambda _, reply: setattr(reply, "body", bytes(len(reply.body))), times=10 ** 6))
        done = self.home.pull("--give-up-after", "1s")
        self.assertEqual((done.code, done.events("failed")[0]["code"]), (5, "digest_mismatch"), done)
        self.assertEqual((self.home.files(), self.acked()), ({}, set()))

    def test_a_digest_that_is_none_is_no_reason_not_to_check(self):
        def spoil(_, reply):
            rows = json.loads(reply.body)
            for row in rows:
                row["request_body"]["sha256"] = "unknown"
            reply.replace(200, json.dumps(rows).encode())
        self.send_files(BODY)
        proxy = self.proxy(First(spoil, when=lambda request: "since_seq=0" in request.path))
        done = self.home.pull("--give-up-after", "1s")
        self.assertEqual((done.code, done.events("failed")[0]["code"]), (5, "bad_answer"), done)
        self.assertEqual((self.home.files(), self.acked(), proxy.seen("/content")), ({}, set(), []))

    def test_a_connection_that_is_cut_is_resumed(self):
        proxy, _ = self.assert_it_arrives_in_the_end(First(lambda _, reply: setattr(reply, "cut_after", 300_000)))
        again = proxy.seen("/content")[1]
        self.assertRegex(again.headers["Range"], r"^bytes=[1-9]\d*-$")
        self.assertEqual(again.headers["If-Range"], f'"{digest_of(BODY)}"')
        self.assertEqual(again.status, 206)

    def test_bytes_that_come_again_after_they_were_thrown_away_are_no_success(self):
        def cut_then_refuse(request, reply):
            if request.path.endswith("/content"):
                if "Range" in request.headers:
                    reply.replace(416)
                else:
                    reply.cut_after = 300_000
        self.send_files(BODY)
        proxy = self.proxy(cut_then_refuse)
        done = self.home.pull("--give-up-after", "1s")
        self.assertEqual((done.code, self.acked()), (5, set()), done)
        self.assertLess(len(proxy.seen("/content")), 20)

    def test_a_short_body_with_a_length_to_match(self):
        def shorten(_, reply):
            reply.body = reply.body[:1000]
            reply.headers["Content-Length"] = "1000"
        _, done = self.assert_it_arrives_in_the_end(First(shorten))
        self.assertEqual(done.events("retry")[0]["code"], "wrong_length")

    def test_a_body_without_a_length_that_ends_early(self):
        def unframe(_, reply):
            del reply.headers["Content-Length"]
            reply.headers["Connection"] = "close"
            reply.cut_after = 1000
        _, done = self.assert_it_arrives_in_the_end(First(unframe))
        self.assertEqual(done.events("retry")[0]["code"], "short_body")

    def test_an_endless_body(self):
        _, done = self.assert_it_arrives_in_the_end(First(lambda _, reply: setattr(reply, "endless", True)))
        self.assertEqual(done.events("retry")[0]["code"], "wrong_length")

    def test_another_range_than_was_asked_for(self):
        def cut_then_lie(request, reply):
            if "Range" not in request.headers:
                reply.cut_after = 300_000
            else:
                reply.headers["Content-Range"] = f"bytes 0-{len(reply.body) - 1}/{len(BODY)}"
        _, done = self.assert_it_arrives_in_the_end(First(cut_then_lie, times=2))
        self.assertIn("wrong_range", [line["code"] for line in done.events("retry")])

    def test_a_range_that_nobody_asked_for(self):
        def partial(_, reply):
            reply.status = 206
            reply.headers["Content-Range"] = f"bytes 0-{len(BODY) - 1}/{len(BODY)}"
        _, done = self.assert_it_arrives_in_the_end(First(partial))
        self.assertEqual(done.events("retry")[0]["code"], "wrong_range")

    def test_416_begins_again(self):
        def cut_then_refuse(request, reply):
            if "Range" not in request.headers:
                reply.cut_after = 300_000
            else:
                reply.replace(416)
        proxy, _ = self.assert_it_arrives_in_the_end(First(cut_then_refuse, times=2))
        self.assertNotIn("Range", proxy.seen("/content")[2].headers)

    def test_names_that_lead_elsewhere_stay_inside(self):
        outside = self.home.path / "outside.txt"
        names = ["../outside.txt", "/etc/passwd", "..", "con", "x" * 255, "a\u0000b", "\x1b[2J", "", ".bashrc"]
        self.send_files(*(b"%d" % number for number in range(len(names))))

        def rename(request, reply):
            rows = json.loads(reply.body)
            for number, row in enumerate(rows):
                row["request_body"]["name"] = names[number]
            reply.replace(200, json.dumps(rows).encode())
        self.proxy(First(rename, when=lambda request: "/activity" in request.path))
        done = self.home.pull()
        self.assertEqual(done.code, 0, done)
        self.assertFalse(outside.exists())
        self.assertEqual(sorted(self.home.files()), sorted(
            ["outside.txt", "passwd", "file", "_con", "x" * 100, "a_b", "__2J", "file (2)", "_bashrc"]))


class Refusals(Case):
    def test_retry_after_is_obeyed(self):
        def busy(_, reply):
            reply.replace(503, b'{"error":"no room","code":"no_room"}', Retry_After="2")
        proxy, done = self.assert_it_arrives_in_the_end(First(busy))
        first, second = proxy.seen("/content")
        self.assertGreaterEqual(second.time - first.time, 2)
        self.assertEqual(done.events("retry")[0]["code"], "no_room")

    def test_a_server_that_fails_is_asked_again_with_pauses(self):
        proxy, _ = self.assert_it_arrives_in_the_end(First(lambda _, reply: reply.replace(500), times=4))
        times = [request.time for request in proxy.seen("/content")]
        self.assertGreater(times[-1] - times[0], 0.125 + 0.25 + 0.5 + 1)

    def test_the_feed_itself_may_fail_or_be_nonsense(self):
        lies = [lambda reply: reply.replace(502, b"<html>"), lambda reply: reply.replace(200, b"[{]"),
                lambda reply: setattr(reply, "cut_after", 10), lambda reply: reply.replace(200, b'{"error":1}')]

        def lie(_, reply):
            lies.pop()(reply)
        self.assert_it_arrives_in_the_end(First(lie, times=4, when=lambda request: "/activity" in request.path))

    def test_a_server_that_does_not_hold_polls_is_not_asked_without_end(self):
        def nothing(request):
            reply = Reply(200, {}, b"")
            reply.replace(200, b"[]")
            return reply
        proxy = self.proxy(before=nothing)
        with self.home.start() as pull:
            await_true(lambda: len(proxy.requests) >= 2, 20, "it polls again")
            self.assertGreater(proxy.requests[1].time - proxy.requests[0].time, 1.5)
            pull.stop()

    def test_an_ack_that_got_lost_is_repeated(self):
        sent = self.send_files(BODY)
        self.proxy(First(lambda _, reply: setattr(reply, "cut_after", 0), when=lambda r: r.path.endswith("/ack")))
        done = self.home.pull()
        self.assertEqual(done.code, 0, done)
        self.assert_delivered(self.home, BODY)
        self.assertEqual(self.acked(), {sent[0]["file_id"]})

    def test_a_hotels_page_in_place_of_the_servers_word_acks_nothing(self):
        sent = self.send_files(BODY)
        pages = [b"<html>Log in, room 101</html>", b'{"acked":false}']

        def portal(request):
            if request.path.endswith("/ack") and pages:
                reply = Reply(200, {}, b"")
                reply.replace(200, pages.pop())
                return reply
        self.proxy(before=portal)
        done = self.home.pull()
        self.assertEqual((done.code, [line["code"] for line in done.events("retry")]), (0, ["bad_answer"] * 2), done)
        self.assert_delivered(self.home, BODY)
        self.assertEqual(self.acked(), {sent[0]["file_id"]})

    def test_a_permanent_redirect_is_refused_and_the_token_goes_nowhere(self):
        with LyingProxy(self.server.address) as elsewhere:
            target = self.url(elsewhere.address)
            self.proxy(before=lambda _: moved(308, target))
            done = self.home.pull()
            self.assertEqual((done.code, done.events("failed")[0]["code"]), (3, "redirected"), done)
            self.assertIn(target, done.events("failed")[0]["error"])
            self.assertEqual(elsewhere.requests, [])

    def test_a_temporary_redirect_may_be_a_hotels_network(self):
        first = [moved(302, "http://login.example/")]
        self.send_files(BODY)
        self.proxy(before=lambda _: first.pop() if first else None)
        self.assertEqual(self.home.pull().code, 0)
        self.assert_delivered(self.home, BODY)

    def test_a_digest_that_the_server_refuses_at_the_ack(self):
        self.send_files(BODY)
        self.proxy(First(lambda _, reply: reply.replace(409, b'{"error":"x","code":"digest_mismatch"}'),
                         when=lambda request: request.path.endswith("/ack")))
        done = self.home.pull()
        self.assertEqual((done.code, done.events("failed")[0]["code"]), (3, "digest_mismatch"), done)


class TheCursor(Case):
    def test_410_in_the_middle_delivers_nothing_twice(self):
        contents = [b"%d" % number for number in range(250)]
        for at in range(0, 250, 50):
            self.send_files(*contents[at:at + 50])
        self.send_message({"kind": "text", "text": "once"})

        def gone(_, reply):
            reply.replace(410, b'{"error":"since_id is unknown here","code":"cursor_gone"}')
        self.proxy(First(gone, times=2, when=lambda request: "since_id=" in request.path))
        done = self.home.pull()
        self.assertEqual(done.code, 0, done)
        self.assertEqual(len(done.events("feed_restarted")), 2)
        self.assertEqual((len(done.events("file")), len(done.events("message"))), (250, 1))
        self.assert_delivered(self.home, *contents)

    def test_a_server_that_knows_none_of_its_rows_is_not_asked_without_end(self):
        self.send_files(b"one", b"two")

        def gone(request, reply):
            if "since_id=" in request.path:
                reply.replace(410, b'{"error":"since_id is unknown here","code":"cursor_gone"}')
        proxy = self.proxy(gone)
        done = self.home.pull("--give-up-after", "1s")
        self.assertEqual((done.code, done.events("failed")[0]["code"]), (5, "cursor_gone"), done)
        self.assertLess(len(proxy.seen("/activity")), 20)
        self.assert_delivered(self.home, b"one", b"two")

    def test_a_cursor_that_is_really_gone_is_survived_by_the_next_run(self):
        """As after a restore, or a sweep of old rows."""
        self.send_files(b"one")
        self.send_message({"kind": "text", "text": "first"})
        self.assertEqual(self.home.pull().code, 0)
        self.db.session.query("DELETE FROM activity_logs WHERE seq = (SELECT max(seq) FROM activity_logs "
                              f"WHERE workspace_id = '{self.workspace.id}') AND workspace_id = '{self.workspace.id}'")
        self.send_files(b"two")
        done = self.home.pull()
        self.assertEqual(done.code, 0, done)
        self.assertEqual((len(done.events("feed_restarted")), len(done.events("file")), done.events("message")),
                         (1, 1, []))
        self.assert_delivered(self.home, b"one", b"two")

    def test_the_next_run_reads_from_where_the_last_one_was(self):
        self.send_files(b"one")
        self.assertEqual(self.home.pull().code, 0)
        proxy = self.proxy()
        self.assertEqual(self.home.pull().code, 0)
        self.assertIn("since_id=", proxy.seen("/activity")[0].path)
        self.assertEqual(proxy.seen("/content"), [])


class BadNetworks(Case):
    def test_slow_cut_and_sliced(self):
        contents = [forms.noise(200_000, number) for number in range(12)]
        self.send_files(*contents)
        with Proxy(self.server.address) as line, Home(self.url(("127.0.0.1", line.port)), self.workspace) as home:
            line.conditions.bandwidth = 2_000_000
            line.conditions.slice = 1000
            line.conditions.latency = 0.0005
            with home.start() as pull:
                for _ in range(6):
                    await_true(lambda: line.links() > 0, 30, "connected")
                    time.sleep(0.15)  # long enough for some bytes, too short for all
                    line.cut(reset=True)
                line.conditions.slice = line.conditions.bandwidth = None
                line.conditions.latency = 0
                await_true(lambda: len(home.files()) == 12, 60, "every file is there")
                await_true(lambda: len(self.acked()) == 12, 30, "every file is acked")
                pull.stop()
            self.assert_delivered(home, *contents)

    def test_two_servers_behind_a_balancer(self):
        contents = [forms.noise(30_000, number) for number in range(60)]
        with Server(self.db.conninfo) as other:
            other.wait_ready()
            with Proxy(self.server.address) as line, Home(self.url(("127.0.0.1", line.port)), self.workspace) as home, \
                    home.start() as pull:
                for number, content in enumerate(contents):
                    self.send_files(content)
                    if number % 5 == 0:
                        line.upstream = other.address if line.upstream == self.server.address else self.server.address
                        line.cut()
                await_true(lambda: len(self.acked()) == 60, 60, "every file is acked")
                pull.stop()
                self.assert_delivered(home, *contents)


def moved(status, target):
    reply = Reply(status, {}, b"")
    reply.replace(status, Location=target)
    return reply


if __name__ == "__main__":
    unittest.main()
