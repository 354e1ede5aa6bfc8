"""Agents on two servers: registration, heartbeats, state, peers, silence and return, removal."""

import json
import threading
import time
import unittest
import uuid

from http_wire import Wire, await_true
from identity_case import IdentityCase, request, tokens_path
from server_process import run_command
from testbed import Workspace
from websocket_client import WebSocket

HEARTBEAT = "/registry/heartbeat"
TIMEOUT = 3


class AgentsCase(IdentityCase):
    flags = ("--threads", "2", "--peers", "open", "--presence-timeout", f"{TIMEOUT}s")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.other = cls.start_server(*cls.flags)

    def beat(self, workspace, token, server=None, **fields):
        return self.call("POST", HEARTBEAT, token, {"workspace_id": workspace, **fields}, server=server)

    def get(self, target, token=None, server=None, headers=()):
        return self.call("GET", target, token, server=server, headers=headers)

    def state(self, workspace, token, server=None):
        return self.get(f"/workspaces/{workspace}/state", token, server).json()

    def await_status(self, workspace, token, wanted, within=20):
        await_true(lambda: self.state(workspace, token)["status"] == wanted, within, f"{workspace} is {wanted}")

    def listen(self, server, target="/ws"):
        opened = self.enterContext(WebSocket(server.address, self.admin, target=target))
        self.assertEqual(opened.answer.status, 101)
        opened.presence = True
        return opened


class Life(AgentsCase):
    def test_an_agent_comes_goes_and_comes_back_and_every_server_says_so_once(self):
        agents = {}
        sockets = [self.listen(server) for server in (self.server, self.other)]
        for _ in range(8):
            workspace, token = self.register()
            agents[workspace] = token
        for workspace, token in agents.items():
            answer = self.beat(workspace, token)
            self.assertEqual((answer.status, answer.json()["status"], answer.json()["generation"]), (200, "ok", 0))
        # Nobody says a word until both servers have found them silent; then each is heard of on the other one.
        for workspace, token in agents.items():
            self.await_status(workspace, token, "offline")
        for workspace, token in agents.items():
            self.assertEqual(self.beat(workspace, token, self.other).status, 200)
        # Events of different servers may overtake each other, so their return is heard before they are removed.
        heard = [self.hear(socket, agents, 3) for socket in sockets]
        for workspace in agents:
            self.assertEqual(self.call("DELETE", f"/workspaces/{workspace}?confirm=true", self.admin).status, 200)
        for socket, before in zip(sockets, heard):
            after = self.hear(socket, agents, 1)
            for workspace in agents:
                self.check_heard(before[workspace] + after[workspace])

    def hear(self, socket, agents, wanted):
        """The events of each agent, once each has so many."""
        heard = {workspace: [] for workspace in agents}
        end = time.monotonic() + 30
        while any(len(events) < wanted for events in heard.values()):
            self.assertLess(time.monotonic(), end, heard)
            event = socket.next_event()
            if event["workspace_id"] in heard:
                heard[event["workspace_id"]].append(event)
        return heard

    def check_heard(self, events):
        names = [event["event"] for event in events]
        self.assertEqual(names, ["WORKSPACE_ONLINE", "WORKSPACE_OFFLINE", "WORKSPACE_ONLINE", "WORKSPACE_REMOVED"])
        self.assertEqual(events[0]["payload"], {"name": "laptop", "delivery_mode": "poll"})
        self.assertEqual(events[1]["payload"], {})
        self.assertEqual(events[2]["payload"]["recovered_from"], "offline")

    def test_a_parked_poll_and_an_open_socket_are_life(self):
        polling, poll_token = self.register()
        listening, listen_token = self.register()
        named, named_token = self.register()
        silent, silent_token = self.register()
        opened = self.enterContext(WebSocket(self.other.address, listen_token))
        self.assertEqual(opened.answer.status, 101)
        among_peers = self.enterContext(
            WebSocket(self.other.address, named_token, headers=[("X-Workspace-ID", named)]))
        self.assertEqual(among_peers.answer.status, 101)
        answer = self.get(f"/workspaces/{polling}/activity?since_seq=0&wait={2 * TIMEOUT}", poll_token)
        self.assertEqual((answer.status, answer.json()), (200, []))
        self.assertEqual(self.state(polling, poll_token)["status"], "online")
        self.await_status(silent, silent_token, "offline")
        self.assertEqual(self.state(listening, listen_token)["status"], "online")
        self.assertEqual(self.state(named, named_token)["status"], "online", "one that hears its peers too")
        opened.socket.close()
        among_peers.socket.close()
        self.await_status(listening, listen_token, "offline")
        self.await_status(named, named_token, "offline")

    def test_the_admin_who_looks_in_is_no_sign_of_life(self):
        workspace, token = self.register()
        answer = self.get(f"/workspaces/{workspace}/activity?since_seq=0&wait={2 * TIMEOUT}", self.admin)
        self.assertEqual(answer.status, 200)
        self.assertEqual(self.state(workspace, token)["status"], "offline")

    def test_what_heartbeats_report_is_shown_and_told(self):
        made = self.db.add_workspace()
        workspace, token = made.id, made.token
        socket = self.listen(self.other, f"/ws?workspace_id={workspace}")
        self.beat(workspace, token, error_rate=0.7, sample_error="disk full", active_tasks=2, uptime_seconds=61,
                  current_task="sorting")
        events = [socket.next_event() for _ in range(2)]
        self.assertEqual({event["event"]: event["payload"] for event in events}, {
            "WORKSPACE_DEGRADED": {"error_rate": 0.7, "sample_error": "disk full"},
            "TASK_UPDATED": {"current_task": "sorting", "active_tasks": 2}})
        shown = self.get(f"/workspaces/{workspace}", token, self.other).json()
        for key, value in {"status": "degraded", "last_error_rate": 0.7, "last_sample_error": "disk full",
                           "active_tasks": 2, "uptime_seconds": 61, "wedged": False, "name": workspace}.items():
            self.assertEqual(shown[key], value, key)
        self.assertIsNotNone(shown["last_heartbeat_at"])
        self.beat(workspace, token, server=self.other)
        events = [socket.next_event()["event"] for _ in range(2)]
        self.assertEqual(sorted(events), ["TASK_UPDATED", "WORKSPACE_ONLINE"])

    def test_a_task_ends_with_the_run_of_the_agent(self):
        made = self.db.add_workspace()
        workspace, token = made.id, made.token
        socket = self.listen(self.other, f"/ws?workspace_id={workspace}")
        self.beat(workspace, token, current_task="sorting", active_tasks=2)

        def next_task():
            while (event := socket.next_event())["event"] != "TASK_UPDATED":
                pass
            return event["payload"]["current_task"], event["payload"]["active_tasks"]

        self.assertEqual(next_task(), ("sorting", 2))
        for _ in range(2):
            again = self.call("POST", "/registry/register", token, {"id": workspace, "delivery_mode": "poll"})
            self.assertEqual(again.status, 200)
        self.beat(workspace, token, current_task="again")
        self.assertCountEqual([next_task(), next_task()], [("", 0), ("again", 0)], "the end is told once")

    def test_operators_see_who_is_there(self):
        workspace, token = self.register()
        code, out, _ = run_command("status", "--json", "--database-url", self.db.conninfo)
        self.assertEqual(code, 0)
        self.assertGreaterEqual(json.loads(out)["agents"]["online"], 1)
        listed = json.loads(run_command("workspace", "list", "--json", "--database-url", self.db.conninfo)[1])
        mine = next(each for each in listed if each["id"] == workspace)
        self.assertEqual(mine["status"], "online")
        self.assertIsNotNone(mine["last_seen_at"])

        def counted():
            self.beat(workspace, token)
            return self.server.metrics()['molecule_workspaces{status="online"}'] >= 1

        await_true(counted, 10, "the gauge counts it")
        self.await_status(workspace, token, "offline")
        self.assertGreaterEqual(self.server.metrics()['molecule_workspaces{status="offline"}'] +
                                self.other.metrics()['molecule_workspaces_went_offline_total'], 1)


class Hearts(AgentsCase):
    """The heartbeat itself, and who may send it."""

    def test_the_secret_is_in_every_answer_and_made_when_it_is_missing(self):
        workspace, token = self.register()
        secret = self.beat(workspace, token).json()["platform_inbound_secret"]
        self.assertRegex(secret, r"\A[A-Za-z0-9_-]{43}\Z")
        self.assertEqual(self.beat(workspace, token, self.other).json()["platform_inbound_secret"], secret)
        made = self.db.add_workspace()
        first = self.beat(made.id, made.token).json()["platform_inbound_secret"]
        self.assertEqual(self.beat(made.id, made.token, self.other).json()["platform_inbound_secret"], first)

    def test_a_rotated_secret_reaches_the_agent(self):
        workspace, token = self.register()
        old = self.beat(workspace, token).json()["platform_inbound_secret"]
        code, out, _ = run_command("workspace", "secret", workspace, "--rotate", "--database-url", self.db.conninfo)
        self.assertEqual(code, 0)
        await_true(lambda: self.beat(workspace, token).json()["platform_inbound_secret"] == out.strip(), 6, "the new secret")
        self.assertNotEqual(old, out.strip())

    def test_an_id_under_another_name_is_taken(self):
        workspace, token = self.register()
        self.assertEqual(self.call("POST", HEARTBEAT, token, {"id": workspace}).status, 200)

    def test_bodies_that_name_no_workspace(self):
        workspace, token = self.register()
        for body, code in ((b"{", "malformed_json"), (b"", "malformed_json"), ({}, "bad_request"), ({"id": 7}, "bad_request")):
            answer = self.call("POST", HEARTBEAT, token, body)
            self.assertEqual((answer.status, answer.json()), (400, {"error": "invalid request body", "code": code}), body)
        for name in ("workspace_id", "id"):
            self.assertEqual(self.call("POST", HEARTBEAT, token, {name: "x"}).json()["code"], "invalid_workspace_id")
            self.assertEqual(self.call("POST", HEARTBEAT, token, {name: workspace.upper()}).status, 200)

    def test_no_query_is_made_for_an_agent_that_is_known(self):
        workspace, token = self.register()
        # Registrations of the last minute are asked for again; this one is made older.
        self.db.session.query(f"UPDATE workspaces SET updated_at = now() - interval '2 minutes' WHERE id = '{workspace}'")

        await_true(lambda: self.is_answered_without_the_database(workspace, token), 30, "a heartbeat that needs no query")

    def is_answered_without_the_database(self, workspace, token, **fields):
        beat = request("POST", HEARTBEAT, token, {"workspace_id": workspace, **fields})
        with Wire(self.server.address, source=self.source) as wire:
            wire.send(beat)
            wire.read_answer()
            self.db.session.query("BEGIN; LOCK TABLE workspaces, workspace_auth_tokens IN ACCESS EXCLUSIVE MODE")
            try:
                began = time.monotonic()
                wire.send(beat)
                answer = wire.read_answer()
            finally:
                self.db.session.query("ROLLBACK")
            return answer.status == 200 and time.monotonic() - began < 0.5

    def test_revocation_holds_within_five_seconds_with_and_without_a_notice(self):
        for how in ("api", "sql"):
            workspace, token = self.register()
            second = self.call("POST", tokens_path(workspace), token).json()
            self.assertEqual(self.beat(workspace, second["auth_token"], self.other).status, 200)
            if how == "api":
                self.call("DELETE", f"{tokens_path(workspace)}/{second['token_id']}", token)
            else:
                self.db.session.query(
                    f"UPDATE workspace_auth_tokens SET revoked_at = now() WHERE id = '{second['token_id']}'")
            await_true(lambda: self.beat(workspace, second["auth_token"], self.other).status == 401, 6, how)
            self.assertEqual(self.beat(workspace, token, self.other).status, 200)

    def test_others_cannot_speak_for_it(self):
        workspace, token = self.register()
        _, foreign = self.register()
        self.assert_invalid(self.beat(workspace, foreign))
        self.assert_invalid(self.beat(workspace, "A" * 43))
        self.assertEqual(self.beat(workspace, None).json()["code"], "missing_token")
        self.assertEqual(self.beat(workspace, self.admin).status, 200)
        self.assertEqual(self.beat(str(uuid.uuid4()), self.admin).json()["code"], "workspace_not_found")
        self.assert_invalid(self.beat(str(uuid.uuid4()), token))
        only = self.call("GET", tokens_path(workspace), token).json()
        for each in only:
            self.call("DELETE", f"{tokens_path(workspace)}/{each['token_id']}", self.admin)
        answer = self.beat(workspace, None)
        self.assertEqual((answer.status, answer.json()["code"]), (401, "missing_token"),
                         "a workspace whose tokens were all revoked is not for whoever comes next")

    def test_a_removed_workspace_is_gone(self):
        workspace, token = self.register()
        uploads, reads = (self.call("POST", tokens_path(workspace), token, {"scope": scope}).json()["auth_token"]
                          for scope in ("upload", "read"))
        self.assertEqual(self.beat(workspace, token).status, 200)
        self.assertEqual(self.call("DELETE", f"/workspaces/{workspace}?confirm=true", token).status, 200)
        await_true(lambda: self.beat(workspace, token, self.other).status != 200, 6, "the other server knows")
        for server in (self.server, self.other):
            self.assert_invalid(self.beat(workspace, token, server))
            gone = self.get(f"/workspaces/{workspace}", token, server)
            self.assertEqual((gone.status, gone.json()["code"], gone.json()["id"]), (410, "workspace_removed", workspace))
            self.assertIn("removed_at", gone.json())
        self.assertEqual(self.beat(workspace, self.admin).status, 404)
        for narrow in (uploads, reads):
            gone = self.get(f"/workspaces/{workspace}", narrow)
            self.assertEqual((gone.status, gone.json()["code"]), (410, "workspace_removed"))
            again = self.call("POST", "/registry/register", narrow, {"id": workspace, "delivery_mode": "poll"})
            self.assertEqual((again.status, again.json()["id"]), (410, workspace))
            self.assert_invalid(self.get(f"/workspaces/{workspace}/state", narrow))
        again = self.call("POST", "/registry/register", self.admin, {"id": workspace, "delivery_mode": "poll"})
        self.assertEqual((again.status, again.json()["id"]), (410, workspace))

    def test_hostile_bodies_change_nothing(self):
        workspace, token = self.register()
        deep = b"[" * 40 + b"]" * 40
        bodies = {b"": 400, b"{": 400, b"[]": 400, b"null": 400, b"\xff": 400, deep: 400,
                  b'{"workspace_id":7}': 400, b'{"workspace_id":"x"}': 400,
                  json.dumps({"workspace_id": workspace, "error_rate": "x"}).encode(): 400,
                  b'{"workspace_id":"' + workspace.encode() + b'","workspace_id":"x"}': 400,
                  b'{"a":"' + b"x" * (1 << 20) + b'"}': 413}
        for body, status in bodies.items():
            self.assertEqual(self.call("POST", HEARTBEAT, token, body).status, status, body[:60])
        for target, limit in ((HEARTBEAT, 1 << 20), (f"/admin/workspaces/{workspace}/tokens", 1 << 16)):
            answer = self.call("POST", target, self.admin, b" " * (limit + 1))
            self.assertEqual((answer.json()["code"], answer.json()["max"]), ("request_too_large", limit))
        answer = self.beat(workspace, token, error_rate=1e300, active_tasks=-7, current_task="\0" * 5000,
                           sample_error="é" * 5000, uptime_seconds=1e18, runtime_state="x" * 9999)
        self.assertEqual(answer.status, 200)
        self.await_status(workspace, token, "degraded")
        shown = self.get(f"/workspaces/{workspace}", token).json()
        self.assertEqual((shown["last_error_rate"], shown["active_tasks"]), (1, 0))
        self.assertEqual(shown["last_sample_error"], "é" * 256)

    def test_a_card_fills_an_empty_place_only(self):
        made = self.db.add_workspace()
        self.beat(made.id, made.token)
        self.beat(made.id, made.token, agent_card={"v": 1})
        self.beat(made.id, made.token, agent_card={"v": 2})
        self.assertEqual(self.get(f"/workspaces/{made.id}", made.token).json()["agent_card"], {"v": 1})

    def test_a_card_that_cannot_be_stored_costs_no_query_with_every_beat(self):
        workspace, token = self.register()
        self.db.session.query("UPDATE workspaces SET agent_card = NULL, updated_at = now() - interval '2 minutes' "
                              f"WHERE id = '{workspace}'")
        await_true(lambda: self.is_answered_without_the_database(workspace, token, agent_card={"v": "\0"}), 30,
                   "a heartbeat that needs no query")
        self.assertIsNone(self.get(f"/workspaces/{workspace}", token).json()["agent_card"])


class Directory(AgentsCase):
    def test_state(self):
        workspace, token = self.register()
        self.assertEqual(self.state(workspace, token),
                         {"workspace_id": workspace, "status": "online", "paused": False, "deleted": False})
        unknown = str(uuid.uuid4())
        answer = self.get(f"/workspaces/{unknown}/state", self.admin)
        self.assertEqual((answer.status, answer.json()["deleted"], answer.json()["workspace_id"]), (404, True, unknown))
        self.call("DELETE", f"/workspaces/{workspace}?confirm=true", self.admin)
        answer = self.get(f"/workspaces/{workspace}/state", self.admin)
        self.assertEqual((answer.status, answer.json()["status"]), (404, "removed"))
        self.assertEqual(self.get(f"/workspaces/{workspace}/state", token).status, 401)

    def test_limits_and_health_are_public(self):
        self.assertEqual(self.get("/uploads/limits").json(), {
            "per_file_bytes": 26214400, "per_request_bytes": 52428800, "max_attachments_per_message": 64})
        self.assertEqual(self.get("/health").json(), {"status": "ok"})

    def test_a_workspace_is_shown_to_itself_its_peers_and_the_admin(self):
        workspace, token = self.register()
        _, peer = self.register()
        for who in (token, peer, self.admin):
            answer = self.get(f"/workspaces/{workspace}", who)
            self.assertEqual((answer.status, answer.json()["name"], answer.json()["runtime"]), (200, "laptop", "external"))
        self.assertEqual(self.get(f"/workspaces/{workspace}").json()["code"], "missing_token")
        self.assert_invalid(self.get(f"/workspaces/{workspace}", "B" * 43))
        third, full = self.register()
        looker_on = self.call("POST", tokens_path(third), full, {"scope": "read"}).json()["auth_token"]
        self.assertEqual(self.get(f"/workspaces/{third}", looker_on).status, 200)
        self.assert_invalid(self.get(f"/workspaces/{workspace}", looker_on))
        unknown = f"/workspaces/{uuid.uuid4()}"
        self.assertEqual(self.get(unknown).status, 401, "strangers do not learn which ids exist")
        self.assertEqual(self.get(unknown, self.admin).status, 404)
        self.assertEqual(self.get("/workspaces/x", self.admin).status, 400)

    def test_that_it_was_removed_is_told_to_anybody(self):
        workspace, token = self.register()
        self.call("DELETE", f"/workspaces/{workspace}?confirm=true", self.admin)
        for who in (None, token, "C" * 43, self.admin):
            for query in ("", "?include_removed=true"):
                answer = self.get(f"/workspaces/{workspace}{query}", who)
                if who == self.admin and query:
                    self.assertEqual((answer.status, answer.json()["status"]), (200, "removed"))
                    continue
                self.assertEqual((answer.status, answer.json()["id"]), (410, workspace))
                self.assertEqual({"error", "code", "id", "removed_at", "hint"}, set(answer.json()))
        _, peer = self.register()
        self.assertEqual(self.get(f"/workspaces/{workspace}", peer).status, 410)

    def test_an_agent_of_a_removed_workspace_is_told_so_while_another_stranger_is_looked_up(self):
        workspace, token = self.register()
        self.call("DELETE", f"/workspaces/{workspace}?confirm=true", self.admin)
        await_true(lambda: self.beat(workspace, token).status == 401, 6, "the token has ended")
        agents, strangers = [], []

        def ask(answers, target, who):
            answers.append(self.get(target, who).status)

        threads = [threading.Thread(target=ask, args=(agents, f"/workspaces/{workspace}", token)) for _ in range(12)]
        threads += [threading.Thread(target=ask, args=(strangers, f"/workspaces/{uuid.uuid4()}", None)) for _ in range(12)]
        self.db.session.query("BEGIN; LOCK TABLE workspaces IN ACCESS EXCLUSIVE MODE")
        try:
            for each in threads:
                each.start()
            self.await_blocked()
        finally:
            self.db.session.query("ROLLBACK")
        for each in threads:
            each.join()
        self.assertLessEqual(set(agents), {410, 503}, "503 after a second in the queue")
        self.assertIn(410, agents)
        self.assertLessEqual(set(strangers), {401, 503})

    def await_blocked(self):
        blocked = ("SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) "
                   "WHERE NOT granted AND datname = current_database()")
        await_true(lambda: int(self.db.session.value(blocked)) > 0, 20, "a query that waits for the lock")

    def test_a_flood_of_strangers_delays_nobody(self):
        workspace, token = self.register()
        stop = threading.Event()

        def flood():
            while not stop.is_set():
                self.get(f"/workspaces/{uuid.uuid4()}")

        threads = [threading.Thread(target=flood) for _ in range(8)]
        for each in threads:
            each.start()
        try:
            for _ in range(20):
                self.assertEqual(self.get(f"/workspaces/{workspace}/state", token).status, 200)
        finally:
            stop.set()
            for each in threads:
                each.join()

    def test_the_admin_creates_and_lists_workspaces(self):
        wanted = {"name": f"made {uuid.uuid4()}", "tier": 1, "runtime": "external", "external": True, "model": "m"}
        first = self.call("POST", "/workspaces", self.admin, wanted)
        self.assertEqual((first.status, first.json()["status"]), (201, "awaiting_agent"))
        second = self.call("POST", "/workspaces", self.admin, wanted).json()
        self.assertEqual(second["name"], wanted["name"] + " (2)")
        made = first.json()
        connection = made["connection"]
        self.assertEqual(connection["auth_token"], made["auth_token"])
        self.assertTrue(connection["heartbeat_endpoint"].endswith(HEARTBEAT))
        self.assertEqual(self.beat(made["id"], made["auth_token"]).status, 200)
        self.await_status(made["id"], made["auth_token"], "online")
        listed = {each["id"]: each for each in self.get("/workspaces", self.admin, self.other).json()}
        self.assertEqual(listed[made["id"]]["delivery_mode"], "poll")
        self.assertEqual(listed[second["id"]]["status"], "awaiting_agent")
        for key in ("current_task", "workspace_dir", "monthly_spend", "budget_limit"):
            self.assertIn(key, listed[made["id"]])

    def test_addresses_that_are_handed_out_are_the_public_ones(self):
        public = "https://files.example.com/box"
        named = self.start_server(*self.flags, "--public-url", public + "/")
        sender, token = self.register()
        proxied = [("X-Forwarded-Proto", "https")]
        for server, headers, base in ((named, (), public), (named, proxied, public),
                                      (self.server, proxied, "https://test"), (self.server, (), "http://test")):
            with self.subTest(base=base, headers=headers):
                made = self.call("POST", "/workspaces", self.admin, {"name": "n"}, headers, server).json()
                self.assertEqual({key: text for key, text in made["connection"].items() if text.startswith("http")},
                                 {"platform_url": base, "registry_endpoint": base + "/registry/register",
                                  "heartbeat_endpoint": base + HEARTBEAT})
                path = f"/workspaces/{made['id']}"
                said = {"method": "message/send", "params": {"message": {"parts": [{"kind": "text", "text": "hi"}]}}}
                self.assertEqual(self.call("POST", path + "/a2a", token, said).status, 200)
                (row,) = self.get(path + "/activity?include=peer_info", made["auth_token"], server, headers).json()
                self.assertEqual(row["agent_card_url"], f"{base}/registry/discover/{sender}")
                grant = self.call("POST", path + "/upload-grants", made["auth_token"], {}, headers, server).json()
                self.assertEqual(grant["page_url"], f"{base}/send#{grant['grant']}")

    def test_a_token_in_the_wrong_place_is_counted_wherever_that_is(self):
        workspace, token = self.register()
        other, _ = self.register()
        name = 'molecule_auth_rejected_total{reason="invalid_token"}'
        before = self.server.metrics().get(name, 0)
        for answer in (self.get(f"/registry/discover/{workspace}", token, headers=[("X-Workspace-ID", other)]),
                       self.get(f"/registry/{other}/peers", token), self.get(f"/workspaces/{other}/state", token),
                       self.beat(other, token), self.call("POST", "/registry/register", token, {"id": other, "delivery_mode": "poll"})):
            self.assert_invalid(answer)
        for target, headers in ((f"/ws?workspace_id={other}", ()), ("/ws", [("X-Workspace-ID", other)])):
            with WebSocket(self.server.address, token, target=target, headers=headers) as socket:
                self.assertEqual(socket.answer.status, 401)
        self.assertEqual(self.server.metrics()[name] - before, 7)

    def test_pages_of_the_public_url_are_its_own(self):
        named = self.start_server(*self.flags, "--public-url", "https://files.example.com/box")
        for origin, status in (("https://files.example.com", 101), ("https://FILES.example.com:443", 101),
                               ("http://files.example.com", 403), ("https://other.example.com", 403)):
            with WebSocket(named.address, self.admin, headers=[("Origin", origin)]) as socket:
                self.assertEqual(socket.answer.status, status, origin)

    def test_the_list_is_of_any_length_and_held_by_a_slow_reader_in_pieces(self):
        self.db.session.query("INSERT INTO workspaces (id, name, delivery_mode) SELECT gen_random_uuid(), 'many', 'poll'"
                              " FROM generate_series(1, 3000)")
        listed = self.get("/workspaces", self.admin).json()
        self.assertEqual(sum(each["name"] == "many" for each in listed), 3000)
        self.assertEqual(len({each["id"] for each in listed}), len(listed))
        self.db.session.query("UPDATE workspaces SET removed_at = now() WHERE name = 'many'")

    def test_a_card_cannot_make_the_lists_long(self):
        workspace, token = self.register()
        _, other = self.register()
        card = {"role": "r" * 900_000, "name": "n" * 100_000}
        answer = self.call("POST", "/registry/register", token, {"id": workspace, "delivery_mode": "poll", "agent_card": card})
        self.assertEqual(answer.status, 200)
        asker = self.call("GET", "/token", other).json()["workspace_id"]
        for listed in (self.get("/workspaces", self.admin), self.get(f"/registry/{asker}/peers", other)):
            mine = next(each for each in listed.json() if each["id"] == workspace)
            self.assertEqual((mine["role"], mine["agent_card"]), ("r" * 255, None))
        shown = self.get(f"/workspaces/{workspace}", token).json()
        self.assertEqual((shown["role"], shown["name"], shown["agent_card"]), ("r" * 255, "laptop", card))

    def test_admin_routes_are_for_the_admin_in_the_words_of_existing_clients(self):
        workspace, token = self.register()
        for method, target in (("GET", "/workspaces"), ("POST", "/workspaces"),
                               ("POST", f"/admin/workspaces/{workspace}/tokens")):
            missing, wrong = (self.call(method, target, who) for who in (None, token))
            self.assertEqual((missing.status, missing.json()["error"]), (401, "admin auth required"))
            self.assertEqual((wrong.status, wrong.json()["error"]), (401, "invalid admin auth token"))

    def test_the_admin_mints_tokens_up_to_a_limit(self):
        workspace, _ = self.register()
        target = f"/admin/workspaces/{workspace}/tokens"
        for _ in range(49):
            answer = self.call("POST", target, self.admin)
            self.assertEqual((answer.status, answer.json()["workspace_id"]), (201, workspace))
        self.assertEqual(self.state(workspace, answer.json()["auth_token"])["status"], "online")
        answer = self.call("POST", target, self.admin)
        self.assertEqual((answer.status, answer.json()["code"]), (429, "too_many_tokens"))
        self.assertEqual(self.call("POST", f"/admin/workspaces/{uuid.uuid4()}/tokens", self.admin).status, 404)

    def test_name_and_role_can_be_changed(self):
        workspace, token = self.register()
        target = f"/workspaces/{workspace}"
        answer = self.call("PATCH", target, token, {"name": "new", "role": "helper", "x": 3})
        self.assertEqual((answer.status, answer.json()), (200, {"status": "updated"}))
        shown = self.get(target, token, self.other).json()
        self.assertEqual((shown["name"], shown["role"]), ("new", "helper"))
        self.assertEqual(self.call("PATCH", target, token, {"name": "x", "tier": 2}).status, 403)
        self.assertEqual(self.get(target, token).json()["name"], "new", "nothing of a refused request")
        self.assertEqual(self.call("PATCH", target, self.admin, {"tier": 2}).status, 200)
        self.assertEqual(self.call("PATCH", target, token, {"name": ""}).status, 400)
        self.assertEqual(self.call("PATCH", f"/workspaces/{uuid.uuid4()}", self.admin, {"name": "x"}).status, 404)
        _, foreign = self.register()
        self.assert_invalid(self.call("PATCH", target, foreign, {"name": "x"}))

    def test_removal_checks_the_name_when_it_is_given(self):
        workspace, token = self.register()
        target = f"/workspaces/{workspace}?confirm=true"
        wrong = self.call("DELETE", target, self.admin, headers=[("X-Confirm-Name", "desktop")])
        self.assertEqual((wrong.status, wrong.json()["code"], wrong.json()["workspace_name"]),
                         (400, "confirmation_required", "laptop"))
        self.assertEqual((wrong.json()["active_tasks"], wrong.json()["child_count"]), (0, 0))
        self.assertIn("hint", wrong.json())
        self.assertEqual(self.state(workspace, token)["deleted"], False)
        right = self.call("DELETE", target, self.admin, headers=[("X-Confirm-Name", "laptop")])
        self.assertEqual(right.status, 200)

    def test_removal_takes_a_name_in_either_encoding(self):
        """Python sends it in UTF-8, a page in ISO 8859-1: it has no other choice."""
        for encoding in ("utf-8", "latin-1"):
            workspace, token = self.register()
            self.assertEqual(self.call("PATCH", f"/workspaces/{workspace}", token, {"name": "Büro é"}).status, 200)
            for name, status in (("Buro é", 400), ("Büro é", 200)):
                head = request("DELETE", f"/workspaces/{workspace}?confirm=true", self.admin, headers=[("X-Confirm-Name", "?")])
                with Wire(self.server.address, source=self.source) as wire:
                    wire.send(head.replace(b"X-Confirm-Name: ?", b"X-Confirm-Name: " + name.encode(encoding)))
                    self.assertEqual(wire.read_answer().status, status, (encoding, name))

    def test_peers_and_discovery(self):
        workspace, token = self.register()
        other, other_token = self.register()
        self.call("PATCH", f"/workspaces/{other}", other_token, {"name": f"peer {other}", "role": "Sorter"})
        peers = {each["id"]: each for each in self.get(f"/registry/{workspace}/peers", token).json()}
        self.assertNotIn(workspace, peers)
        self.assertEqual((peers[other]["role"], peers[other]["url"]), ("Sorter", ""))
        found = self.get(f"/registry/{workspace}/peers?q=PEER%20{other}", token).json()
        self.assertEqual([each["id"] for each in found], [other])
        self.call("PATCH", f"/workspaces/{other}", other_token, {"name": f"Büro {other}"})
        for words in ("B%C3%BCro", f"b%C3%BCro+{other}"):
            found = self.get(f"/registry/{workspace}/peers?q={words}", token).json()
            self.assertIn(other, [each["id"] for each in found], words)
        for bad in ("%FF", "a%00", "a&q=b"):
            self.assertEqual(self.get(f"/registry/{workspace}/peers?q={bad}", token).json()["code"], "bad_request", bad)
        self.assert_invalid(self.get(f"/registry/{workspace}/peers", other_token))
        self.assertEqual(self.get(f"/registry/{uuid.uuid4()}/peers", self.admin).status, 404)

        def discover(target, who, asking):
            return self.get(f"/registry/discover/{target}", who, headers=[("X-Workspace-ID", asking)] if asking else ())

        self.assertEqual(discover(other, token, workspace).json(), {
            "id": other, "name": f"Büro {other}", "role": "Sorter", "status": "online", "url": ""})
        self.assertEqual(discover(other, token, None).json()["error"], "X-Workspace-ID header is required")
        self.assert_invalid(discover(other, token, other))
        self.assertEqual(discover(str(uuid.uuid4()), token, workspace).status, 404)
        self.assertEqual(discover(other, token, "x").status, 400)


class Strangers(IdentityCase):
    """Workspaces of different owners on one server: --peers closed, the default."""

    def test_workspaces_do_not_see_each_other(self):
        workspace, token = self.register()
        other, _ = self.register()
        self.assertEqual(self.call("GET", f"/registry/{workspace}/peers", token).json(), [])
        asking = [("X-Workspace-ID", workspace)]
        refused = self.call("GET", f"/registry/discover/{other}", token, headers=asking)
        self.assertEqual((refused.status, refused.json()["code"]), (403, "peer_not_allowed"))
        unknown = self.call("GET", f"/registry/discover/{uuid.uuid4()}", token, headers=asking)
        self.assertEqual(unknown.body, refused.body, "which ids exist is not told")
        self.assertEqual(self.call("GET", f"/registry/discover/{workspace}", token, headers=asking).status, 200)
        self.assert_invalid(self.call("GET", f"/workspaces/{other}", token))
        self.assert_invalid(self.call("GET", f"/workspaces/{uuid.uuid4()}", token))


class Registration(IdentityCase):
    """What existing agents send."""

    def test_a_url_without_an_address_means_poll(self):
        workspace = str(uuid.uuid4())
        body = {"id": workspace, "url": "remote://no-inbound", "agent_card": {"name": "from the card", "skills": []}}
        answer = self.call("POST", "/registry/register", body=body)
        self.assertEqual((answer.status, answer.json()["delivery_mode"]), (200, "poll"))
        token = answer.json()["auth_token"]
        shown = self.call("GET", f"/workspaces/{workspace}", token).json()
        self.assertEqual((shown["name"], shown["url"], shown["status"]), ("from the card", "remote://no-inbound", "online"))

    def test_the_url_of_a_workspace_that_polls_is_not_checked(self):
        for url in ("http://169.254.169.254/", "nonsense", "http://10.0.0.1"):
            body = {"id": str(uuid.uuid4()), "delivery_mode": "poll", "url": url}
            self.assertEqual(self.call("POST", "/registry/register", body=body).status, 200, url)

    def test_every_url_of_a_workspace_that_is_called_is_checked(self):
        bad = "http://169.254.169.254/"
        for urls, sentence in (({"url": bad}, "workspace URL not allowed"),
                               ({"agent_card": {"url": bad}}, "workspace URL not allowed"),
                               ({"url": "https://a.example", "agent_card": {"url": bad}},
                                "workspace agent_card URL not allowed")):
            body = {"id": str(uuid.uuid4()), "delivery_mode": "push", **urls}
            answer = self.call("POST", "/registry/register", body=body)
            self.assertEqual((answer.status, answer.json()["error"]), (400, sentence), urls)

    def test_without_a_mode_the_stored_one_decides_how_the_url_is_checked(self):
        def register(workspace, token=None, **fields):
            return self.call("POST", "/registry/register", token, {"id": workspace, **fields})

        def url_of(workspace, token):
            return self.call("GET", f"/workspaces/{workspace}", token).json()["url"]

        called = str(uuid.uuid4())
        token = register(called, delivery_mode="push", url="https://a.example").json()["auth_token"]
        for url in ("remote://no-inbound", "http://169.254.169.254/", "nonsense"):
            self.assertEqual(register(called, token, url=url).status, 400, url)
            self.assertEqual(url_of(called, token), "https://a.example")
        self.assertEqual(register(called, token, url="https://b.example").json()["delivery_mode"], "push")
        self.assertEqual(register(called, url="remote://no-inbound").status, 401, "the mode is not told to strangers")
        polls, token = self.register()
        for url in ("http://10.0.0.1:8000/agent", "nonsense", "remote://no-inbound"):
            answer = register(polls, token, url=url)
            self.assertEqual((answer.status, answer.json()["delivery_mode"]), (200, "poll"), answer)
            self.assertEqual(url_of(polls, token), url)
        self.assertEqual(register(str(uuid.uuid4()), url="nonsense").status, 400, "a new one would be called")

    def test_heartbeats_without_a_token_are_held_to_the_rules_of_registration(self):
        made = Workspace(str(uuid.uuid4()), None)
        self.db.session.query(f"INSERT INTO workspaces (id, delivery_mode) VALUES ('{made.id}', 'poll')")
        body = json.dumps({"workspace_id": made.id}).encode()
        self.assertEqual(self.call("POST", HEARTBEAT, body=body).status, 200, "it never had a token")
        self.assertEqual(self.call("POST", HEARTBEAT, body=body, headers=[("Origin", "http://evil.example")]).status, 403)
        self.assertEqual(self.call("POST", HEARTBEAT, body=body, headers=[("Via", "1.1 proxy")]).status, 401)
        with Wire(self.server.address) as wire:
            wire.send(b"POST /registry/heartbeat HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
                      b"Content-Length: %d\r\n\r\n" % len(body) + body)
            self.assertEqual(wire.read_answer().status, 415)
        self.assertEqual(self.call("POST", HEARTBEAT, body={"workspace_id": str(uuid.uuid4())}).status, 404)


if __name__ == "__main__":
    unittest.main()
