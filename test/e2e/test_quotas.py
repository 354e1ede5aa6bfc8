#!/usr/bin/env python3
"""Quotas: what may wait for a workspace, exactly, and before the body where its length tells."""

import collections
import concurrent.futures
import json
import unittest

import forms
from events_case import ADMIN, EventsCase
from http_wire import Wire, await_true, request_head
from server_process import Server, run_command
from testbed import upload, upload_head

MAX_BYTES, MAX_FILES = 1_000_000, 20


class QuotaCase(EventsCase):
    servers = 2
    flags = ("--workspace-max-bytes", str(MAX_BYTES), "--workspace-max-files", str(MAX_FILES))

    def call(self, replica, method, path, body=None, token=None):
        data = b"" if body is None else json.dumps(body).encode()
        with Wire(replica.address) as wire:
            wire.send(request_head(method, f"/workspaces/{self.workspace.id}{path}", [
                ("Host", "test"), ("Authorization", f"Bearer {token or self.workspace.token}"),
                ("Content-Length", str(len(data)))]) + data)
            return wire.read_answer()

    def send(self, replica, *sizes, headers=(), workspace=None):
        body = forms.form(*(forms.part(b"x" * size) for size in sizes))
        return upload(replica.address, workspace or self.workspace, body, forms.PLAIN, headers)

    def assert_over(self, answer, of, used, limit):
        self.assertEqual(answer.status, 507, answer)
        told = answer.json()
        self.assertEqual((told["code"], told["of"], told["used"], told["limit"]), ("quota_exceeded", of, used, limit))

    def refused_before_the_body(self, replica, length):
        """The answer to a head alone."""
        with Wire(replica.address, timeout=10) as wire:
            wire.send(upload_head(self.workspace, forms.PLAIN, length, [("Expect", "100-continue")]))
            return wire.read_answer()

    def quota(self, replica):
        answer = self.call(replica, "GET", "/quota")
        self.assertEqual(answer.status, 200, answer)
        return answer.json()

    def waiting(self):
        return int(self.db.session.value(
            f"SELECT count(*) FROM pending_uploads WHERE workspace_id = '{self.workspace.id}' AND acked_at IS NULL "
            "AND expires_at > now()"))


class Limits(QuotaCase):
    def test_refused_before_the_body_where_its_length_tells(self):
        here, there = self.replicas
        self.assertEqual(self.refused_before_the_body(here, 1_200_000).status, 100, "framing may be that much")
        self.assert_over(self.refused_before_the_body(here, 1_300_000), "bytes", 0, MAX_BYTES)
        self.assertEqual(self.send(here, 999_000).status, 200)
        self.assertEqual(self.send(here, 1_000).status, 200, "the last byte")
        for replica in self.replicas:
            self.assert_over(self.refused_before_the_body(replica, 200), "bytes", MAX_BYTES, MAX_BYTES)
        # Nor is a body of unknown length read when not one byte fits.
        with Wire(there.address, timeout=10) as wire:
            wire.send(upload_head(self.workspace, forms.PLAIN, None, [("Expect", "100-continue")]))
            self.assert_over(wire.read_answer(), "bytes", MAX_BYTES, MAX_BYTES)

    def test_decided_in_the_transaction_where_nothing_tells(self):
        here, _ = self.replicas
        self.assertEqual(self.send(here, 900_000).status, 200)
        before = self.db.counts()
        self.assert_over(self.send(here, 100_001), "bytes", 900_000, MAX_BYTES)
        body = forms.form(forms.part(b"x" * 100_001))
        with Wire(here.address) as wire:
            wire.send_what_is_taken([upload_head(self.workspace, forms.PLAIN), forms.chunked(body, [10_000])])
            self.assert_over(wire.read_answer(), "bytes", 900_000, MAX_BYTES)
        self.assertEqual(self.db.counts(), before, "a refused upload leaves nothing")
        self.assertEqual(self.send(here, *[1] * (MAX_FILES - 1)).status, 200)
        self.assert_over(self.send(here, 1), "files", MAX_FILES, MAX_FILES)

    def test_exact_under_32_uploads_at_once_on_two_servers(self):
        for _ in range(3):
            self.workspace = self.db.add_workspace()
            with concurrent.futures.ThreadPoolExecutor(32) as pool:
                answers = list(pool.map(lambda i: self.send(self.replicas[i % 2], 10).status, range(96)))
            self.assertEqual(collections.Counter(answers), {200: MAX_FILES, 507: 96 - MAX_FILES})
            self.assertEqual(self.waiting(), MAX_FILES)

    def test_an_ack_frees_at_once(self):
        here, there = self.replicas
        files = self.send(here, *[1] * MAX_FILES).json()["files"]
        for file in files[:5]:
            self.assertEqual(self.send(there, 1).status, 507)
            self.assertEqual(self.call(here, "POST", f"/pending-uploads/{file['file_id']}/ack").status, 200)
            self.assertEqual(self.send(there, 1).status, 200)
        self.assertEqual(self.waiting(), MAX_FILES)

    def test_expiry_frees_at_once_without_a_sweep(self):
        here, there = self.replicas
        self.assertEqual(self.send(here, MAX_BYTES).status, 200)
        self.assertEqual(self.send(there, 1).status, 507)
        self.db.session.query(f"UPDATE pending_uploads SET expires_at = now() WHERE workspace_id = '{self.workspace.id}'")
        self.assertEqual(self.quota(there)["used_bytes"], 0)
        self.assertEqual(self.send(there, MAX_BYTES).status, 200)
        self.assertEqual(self.send(here, 1).status, 507)

    def test_a_repeated_request_is_answered_as_before(self):
        here, there = self.replicas
        key = [("Idempotency-Key", "full")]
        first = self.send(here, MAX_BYTES, headers=key)
        again = self.send(there, MAX_BYTES, headers=key)
        self.assertEqual((first.status, again.status, again.body), (200, 200, first.body))
        self.assertEqual(self.send(there, MAX_BYTES, headers=[("Idempotency-Key", "new")]).status, 507)

    def test_messages_still_come_and_other_workspaces_are_not_touched(self):
        here, _ = self.replicas
        self.send(here, MAX_BYTES)
        self.assertEqual(self.call(here, "POST", "/a2a", {"method": "message/send"}).status, 200)
        self.assertEqual(self.send(here, 5, workspace=self.db.add_workspace()).status, 200)


class Overrides(QuotaCase):
    def test_the_admin_sets_limits_and_nobody_else(self):
        here, there = self.replicas
        self.assertEqual(self.quota(here), {"max_bytes": MAX_BYTES, "max_files": MAX_FILES, "used_bytes": 0,
                                            "used_files": 0, "own": {"max_bytes": None, "max_files": None}})
        self.assertEqual(self.call(here, "PUT", "/quota", {"max_files": 1}).status, 401)
        self.assertEqual(self.call(here, "GET", "/quota", token=self.db.add_workspace().token).status, 401)
        changed = self.call(here, "PUT", "/quota", {"max_files": 1}, ADMIN)
        self.assertEqual((changed.status, changed.json()["max_files"], changed.json()["max_bytes"]), (200, 1, MAX_BYTES))
        self.assertEqual([self.send(there, 1).status for _ in range(2)], [200, 507])
        self.assertEqual(self.call(there, "PUT", "/quota", {"max_files": 0}, ADMIN).json()["max_files"], 0)
        self.assertEqual(self.send(here, *[1] * (MAX_FILES + 5)).status, 200)
        self.assertEqual(self.call(here, "PUT", "/quota", {"max_files": None}, ADMIN).json()["max_files"], MAX_FILES)
        self.assert_over(self.send(there, 1), "files", MAX_FILES + 6, MAX_FILES)

    def test_what_is_no_quota(self):
        here, _ = self.replicas
        for body in ([], {"max_bytes": -1}, {"max_files": "7"}, {"max_files": 1.5}, {"max_bytes": 2**64}):
            self.assertEqual(self.call(here, "PUT", "/quota", body, ADMIN).status, 400, body)
        stranger = self.workspace
        stranger.id = "11111111-1111-4111-8111-111111111111"
        self.assertEqual(self.call(here, "PUT", "/quota", {}, ADMIN).status, 404)
        self.assertEqual(self.call(here, "GET", "/quota", token=ADMIN).status, 404)

    def test_the_command(self):
        here, _ = self.replicas
        self.send(here, 300, 200)
        to = ["--database-url", self.db.conninfo, *self.flags]
        code, out, _ = run_command("workspace", "quota", self.workspace.id, "--bytes", "1KiB", *to)
        self.assertEqual((code, out), (0, "Bytes  500 bytes of 1.0 KiB\nFiles  2 of 20 (the default)\nUsed   48 %\n"))
        self.assert_over(self.send(here, 525), "bytes", 500, 1024)
        code, out, _ = run_command("workspace", "quota", self.workspace.id, "--bytes", "default", "--files", "0",
                                   "--json", *to)
        self.assertEqual(json.loads(out), {"max_bytes": MAX_BYTES, "max_files": 0, "used_bytes": 500, "used_files": 2,
                                           "own": {"max_bytes": None, "max_files": 0}})
        self.assertEqual(run_command("workspace", "quota", self.workspace.id, "--bytes", "many", *to)[0], 2)
        self.assertEqual(run_command("workspace", "quota", "11111111-1111-4111-8111-111111111111", *to)[0], 1)
        code, out, _ = run_command("workspace", "list", "--json", *to)
        mine = [each for each in json.loads(out) if each["id"] == self.workspace.id]
        self.assertEqual([(each["waiting_files"], each["waiting_bytes"]) for each in mine], [(2, 500)])


class Figures(QuotaCase):
    servers = 1

    def test_the_fullest_workspace_and_the_refusals_are_shown(self):
        here = self.replicas[0]
        for i in range(4):
            self.send(here, 100 * i + 100, workspace=self.db.add_workspace())
        self.send(here, 850_000)
        self.assertEqual(self.send(here, 150_001).status, 507)
        self.assertEqual(here.metrics()['molecule_uploads_total{outcome="over_quota"}'], 1)
        self.assertEqual(here.metrics()['molecule_uploads_total{outcome="failed"}'], 0)
        with Server(self.db.conninfo, *self.flags) as fresh:  # which reads the figures at once
            fresh.wait_ready()
            await_true(lambda: fresh.metrics().get("molecule_workspace_quota_fullest_ratio") == 0.85, 20, "the ratio")
        to = ["--database-url", self.db.conninfo, *self.flags]
        _, out, _ = run_command("status", *to)
        self.assertIn(f"Fullest     {self.workspace.id} has used 85 % of its quota\n", out)
        _, out, _ = run_command("status", "--json", *to)
        self.assertEqual(json.loads(out)["fullest"], {"workspace_id": self.workspace.id, "quota_used_ratio": 0.85})


if __name__ == "__main__":
    unittest.main()
