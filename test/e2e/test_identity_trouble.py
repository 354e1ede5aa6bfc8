"""Identity under adverse conditions: floods of wrong tokens, several servers, an unavailable database,
shutdown."""

import secrets
import threading
import time
import unittest
import uuid

import told_tokens
from http_wire import Wire, await_true
from identity_case import IdentityCase, call, own_address, poll_workspace, request, tokens_path
from pg_client import Session
from pg_proxy import PostgresProxy, Strike
from server_process import Server
from testbed import Cluster, Database

REGISTER = "/registry/register"


class Failures(IdentityCase):
    def test_the_21st_wrong_token_of_an_address_is_too_many_and_right_ones_are_not_touched(self):
        workspace, token = self.register()
        path = tokens_path(workspace)
        answers = [self.call("GET", path, secrets.token_urlsafe(32)) for _ in range(20)]
        self.assertEqual({answer.status for answer in answers}, {401})
        limited = self.call("GET", path, secrets.token_urlsafe(32))
        self.assertEqual(limited.status, 429, "whichever shards the twenty were spread over")
        self.assertGreaterEqual(int(limited.headers["retry-after"]), 1)
        self.assertEqual(self.status_of(workspace, token), 200)
        self.assertEqual(self.call("GET", path).status, 401, "none is not a wrong one")
        self.source = own_address()
        self.assert_invalid(self.call("GET", path, secrets.token_urlsafe(32)))

    def test_malformed_tokens_never_reach_the_database(self):
        workspace, _ = self.register()
        queries = ("SELECT calls FROM (SELECT sum(idx_scan) AS calls FROM pg_stat_user_indexes "
                   "WHERE indexrelname = 'workspace_auth_tokens_token_hash_key') AS scans")
        with Wire(self.server.address, source=self.source) as wire:
            before = self.settled(queries)
            for wrong in ("A" * 42, "A" * 44, "A" * 8000, "A" * 42 + "=", "A" * 42 + "+") * 10:
                wire.send(request("GET", tokens_path(workspace), wrong))
                self.assertIn(wire.read_answer().status, (401, 429))
            self.assertEqual(self.settled(queries), before)

    def settled(self, query):
        """A value of PostgreSQL's statistics, which lag behind: polled until it is stable."""
        seen, since = self.db.session.value(query), time.monotonic()
        while time.monotonic() - since < 1.2:
            time.sleep(0.1)
            now = self.db.session.value(query)
            if now != seen:
                seen, since = now, time.monotonic()
        return seen


class Flood(IdentityCase):
    seconds = 3
    a_second = 1000
    senders = 4

    def test_a_thousand_bad_tokens_a_second_leave_good_ones_unharmed(self):
        workspace, token = self.register()
        other, _ = self.register()
        log_before = self.server.log_size()
        statuses, end = [], time.monotonic() + self.seconds
        threads = [threading.Thread(target=self.flood, args=(other, statuses, end))
                   for _ in range(self.senders)]
        for thread in threads:
            thread.start()
        good = []
        while time.monotonic() < end:
            begun = time.monotonic()
            good.append((self.status_of(workspace, token), time.monotonic() - begun))
        for thread in threads:
            thread.join()

        self.assertGreater(len(statuses), 100, "this was no flood")
        self.assertEqual(set(statuses), {401, 429})
        self.assertEqual({status for status, _ in good}, {200}, "from the same address as the bad ones")
        took = sorted(seconds for _, seconds in good)
        self.assertLess(took[len(took) * 99 // 100], 2, f"of {len(took)} good requests")
        lines = [line for line in self.server.log_lines(log_before) if line["event"] == "auth_rejected"]
        self.assertLessEqual(len(lines), 2 * 10 * (self.seconds + 2), "a flood fills a counter, not the disk")
        counted = sum(value for name, value in self.server.metrics().items()
                      if name.startswith("molecule_auth_rejected_total"))
        self.assertEqual(counted, len(statuses))

    def flood(self, workspace, statuses, end):
        """Wrong tokens on one connection, ten at a time, at no more than this sender's share of the rate."""
        pause = 10 * self.senders / self.a_second
        with Wire(self.server.address, source=self.source) as wire:
            while (begun := time.monotonic()) < end:
                wire.send(b"".join(request("GET", tokens_path(workspace), secrets.token_urlsafe(32))
                                   for _ in range(10)))
                statuses += [wire.read_answer().status for _ in range(10)]
                time.sleep(max(0, begun + pause - time.monotonic()))


class Replicas(IdentityCase):
    def test_a_revocation_holds_on_another_server_within_five_seconds(self):
        neighbour = self.start_server(*self.flags)
        workspace, token = self.register()
        for server in (self.server, neighbour):
            self.assertEqual(self.status_of(workspace, token, server), 200)
        token_id = self.call("GET", tokens_path(workspace), token).json()[0]["token_id"]
        revoked = self.call("DELETE", f"{tokens_path(workspace)}/{token_id}", token)
        self.assertEqual(revoked.status, 200)
        self.assertEqual(self.status_of(workspace, token), 401)
        # Used continuously, so that a cache that extends lifetimes on use would show.
        await_true(lambda: self.status_of(workspace, token, neighbour) == 401, 5, "the neighbour refuses it")

    def test_a_removal_holds_on_another_server_within_five_seconds(self):
        neighbour = self.start_server(*self.flags)
        workspace, token = self.register()
        self.assertEqual(self.status_of(workspace, token, neighbour), 200)
        self.assertEqual(self.call("DELETE", f"/workspaces/{workspace}?confirm=true", token).status, 200)
        await_true(lambda: self.status_of(workspace, token, neighbour) == 401, 5, "the neighbour refuses it")

    def test_last_uses_are_written_before_the_server_ends(self):
        workspace, token = self.register()
        stamp = f"SELECT last_used_at FROM workspace_auth_tokens WHERE workspace_id = '{workspace}'"
        with Server(self.db.conninfo) as short_lived:
            short_lived.wait_ready()
            self.assertEqual(self.status_of(workspace, token, short_lived), 200)
            self.assertEqual(short_lived.stop(), 0)
            self.assertIsNotNone(self.db.session.value(stamp))


class LostCommit(unittest.TestCase):
    """A token that is stored but was never returned would lock its workspace out for good."""

    @classmethod
    def setUpClass(cls):
        cls.db = cls.enterClassContext(Database())
        cls.proxy = cls.enterClassContext(PostgresProxy(cls.db.conninfo, "INTO workspace_auth_tokens"))
        cls.admin = told_tokens.remember(secrets.token_urlsafe(24))
        cls.server = cls.enterClassContext(Server(
            cls.proxy.conninfo, environment={"RESTANTE_ADMIN_TOKEN": cls.admin})).wait_ready()

    def register(self, strike):
        workspace = str(uuid.uuid4())
        self.proxy.arm(strike)
        answer = call(self.server, "POST", REGISTER, body=poll_workspace(workspace))
        self.assertTrue(self.proxy.struck.is_set())
        return workspace, answer

    def assert_opens(self, workspace, answer):
        self.assertEqual(answer.status, 200, answer)
        token = answer.json()["auth_token"]
        self.assertEqual(call(self.server, "GET", tokens_path(workspace), token).status, 200)

    def test_when_the_answer_to_commit_is_lost_the_token_is_told_all_the_same(self):
        self.assert_opens(*self.register(Strike.AFTER_COMMIT))

    def test_who_creates_a_workspace_is_told_that_nobody_knows(self):
        """There is no id yet by which one could ask for it."""
        name = f"made {uuid.uuid4()}"
        self.proxy.arm(Strike.AFTER_COMMIT)
        answer = call(self.server, "POST", "/workspaces", self.admin, {"name": name})
        self.assertTrue(self.proxy.struck.is_set())
        self.assertEqual((answer.status, answer.json()["code"], answer.json().get("stored")),
                         (503, "platform_unavailable", "unknown"), answer)
        self.assertEqual(self.db.session.value(f"SELECT count(*) FROM workspaces WHERE name = '{name}'"), "1")

    def test_when_commit_is_lost_nothing_is_stored_and_the_next_attempt_works(self):
        workspace, answer = self.register(Strike.BEFORE_COMMIT)
        self.assertEqual(answer.status, 503, answer)
        self.assertEqual(self.db.session.value(
            f"SELECT count(*) FROM workspaces WHERE id = '{workspace}'"), "0")
        again = call(self.server, "POST", REGISTER, body=poll_workspace(workspace))
        self.assert_opens(workspace, again)

    def test_when_nobody_can_say_the_answer_comes_in_time_and_says_so(self):
        """The reply to COMMIT is lost on a line that stays open, and then somebody holds the lock of the id."""
        workspace, answers = str(uuid.uuid4()), []
        self.proxy.arm(Strike.HANG_AFTER_COMMIT)

        def register():
            begun = time.monotonic()
            answers.append(call(self.server, "POST", REGISTER, body=poll_workspace(workspace)))
            answers.append(time.monotonic() - begun)

        client = threading.Thread(target=register)
        client.start()
        self.assertTrue(self.proxy.struck.wait(20))
        with Session(self.db.conninfo) as holder:
            holder.query(f"SELECT pg_advisory_lock(hashtextextended('workspace ' || '{workspace}'::uuid, 0))")
            client.join()
        answer, seconds = answers
        self.assertEqual((answer.status, answer.json().get("stored")), (503, "unknown"), answer)
        self.assertLess(seconds, 10 + 5, "with room for a loaded machine")


class DatabaseAway(unittest.TestCase):
    def test_it_is_503_and_never_401(self):
        with Cluster() as cluster, Database(cluster.conninfo) as db, Server(db.conninfo) as server:
            server.wait_ready()
            source = own_address()

            def ask(method, target, token=None, body=None):
                return call(server, method, target, token, body, source=source)

            known = db.add_workspace()
            path = tokens_path(known.id)
            self.assertEqual(ask("GET", path, known.token).status, 200)
            cluster.stop()
            for token in [secrets.token_urlsafe(32) for _ in range(25)] + [known.token]:
                away = ask("GET", path, token)
                self.assertEqual((away.status, away.json()["code"]), (503, "platform_unavailable"))
                self.assertIn("retry-after", away.headers)
            self.assertEqual(ask("POST", REGISTER, body=poll_workspace(known.id)).status, 503)
            self.assertEqual(ask("GET", path, "x").status, 401, "what can't be a token needs no database")
            cluster.start()
            db.reconnect()
            await_true(lambda: ask("GET", path, known.token).status == 200, 20, "it works again")

            def status_of_a_wrong_one():
                status = ask("GET", path, secrets.token_urlsafe(32)).status
                return status if status != 503 else None

            seen = await_true(status_of_a_wrong_one, 20, "every shard has found its way back")
            self.assertEqual(seen, 401, "what could not be asked about was not counted")


if __name__ == "__main__":
    unittest.main()
