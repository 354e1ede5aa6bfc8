"""`restante workspace …` and `restante token …` beside a running server."""

import json
import unittest
import uuid

import told_tokens
from http_wire import await_true
from identity_case import IdentityCase
from server_process import run_command

TOKEN = r"\A[A-Za-z0-9_-]{43}\n\Z"


class Commands(IdentityCase):
    def run_ok(self, *words):
        code, out, err = run_command(*words, "--database-url", self.db.conninfo)
        self.assertEqual(code, 0, err)
        return out, err

    def run_bad(self, *words, code=1):
        got, out, err = run_command(*words, "--database-url", self.db.conninfo)
        self.assertEqual((got, out), (code, ""), err)
        return err

    def add(self, *words):
        out, err = self.run_ok("workspace", "add", *words)
        self.assertRegex(out, TOKEN, "the token, alone, so that it can be piped")
        self.assertNotIn(out.strip(), err)
        return told_tokens.remember(out.strip())

    def test_a_workspace_that_was_added_works_at_once(self):
        workspace = str(uuid.uuid4())
        token = self.add(workspace, "--name", "laptop")
        self.assertEqual(self.status_of(workspace, token), 200)
        out, err = self.run_ok("workspace", "add", workspace, "--mode", "push", "--url", "http://example.org")
        self.assertEqual(out, "", "it has a token already")
        self.assertIn("updated", err)

    def test_json_for_programs(self):
        out, _ = self.run_ok("workspace", "add", "--json")
        told = json.loads(out)
        told_tokens.remember(told["auth_token"])
        self.assertEqual(self.status_of(told["id"], told["auth_token"]), 200)
        listed = json.loads(self.run_ok("workspace", "list", "--json")[0])
        mine = next(workspace for workspace in listed if workspace["id"] == told["id"])
        self.assertEqual((mine["delivery_mode"], mine["live_tokens"], mine["removed_at"]), ("poll", 1, None))
        tokens = json.loads(self.run_ok("token", "list", told["id"], "--json")[0])
        self.assertEqual([token["prefix"] for token in tokens], [told["auth_token"][:8]])

    def test_tables_for_people(self):
        workspace = str(uuid.uuid4())
        token = self.add(workspace, "--name", "Büro")
        head, *rows = self.run_ok("workspace", "list")[0].splitlines()
        self.assertEqual(head.split(), ["ID", "NAME", "MODE", "STATUS", "SEEN", "TOKENS", "FILES", "BYTES", "CREATED"])
        row = next(row for row in rows if workspace in row)
        self.assertEqual(row.index("poll"), head.index("MODE"), "the columns stand in line")
        listed = self.run_ok("token", "list", workspace)[0]
        self.assertIn(token[:8], listed)
        self.assertNotIn(token, listed)

    def test_a_revocation_reaches_the_server_within_five_seconds(self):
        workspace = str(uuid.uuid4())
        first = self.add(workspace)
        second = told_tokens.remember(self.run_ok("token", "issue", workspace)[0].strip())
        self.assertEqual([self.status_of(workspace, token) for token in (first, second)], [200, 200])
        tokens = json.loads(self.run_ok("token", "list", workspace, "--json")[0])
        first_id = next(token["token_id"] for token in tokens if token["prefix"] == first[:8])
        self.run_ok("token", "revoke", workspace, first_id)
        await_true(lambda: self.status_of(workspace, first) == 401, 5, "the revoked token is refused")
        self.assertEqual(self.status_of(workspace, second), 200)
        self.run_ok("workspace", "remove", workspace)
        await_true(lambda: self.status_of(workspace, second) == 401, 5, "the removed workspace is shut")

    def test_what_cannot_be_done_is_said_on_stderr(self):
        workspace = str(uuid.uuid4())
        self.assertIn("no such workspace", self.run_bad("workspace", "remove", workspace))
        self.assertIn("no such workspace", self.run_bad("token", "issue", workspace))
        self.assertIn("no such token", self.run_bad("token", "revoke", workspace, str(uuid.uuid4())))
        self.assertIn("--mode", self.run_bad("workspace", "add", "--mode", "pigeon", code=2))
        self.assertIn("--url", self.run_bad("workspace", "add", "--mode", "push", code=2))
        self.assertIn("TOKEN_ID", self.run_bad("token", "revoke", workspace, "x", code=2))
        for words in (("token", "list"), ("grant", "list"), ("grant", "create"), ("workspace", "quota")):
            self.assertIn("no such workspace", self.run_bad(*words, workspace), words)
        self.add(workspace)
        self.run_ok("workspace", "remove", workspace)
        self.assertEqual(len(json.loads(self.run_ok("token", "list", workspace, "--json")[0])), 1, "what it had is shown")
        self.assertIn("cannot come back", self.run_bad("workspace", "add", workspace))

    def test_limits_that_make_no_sense_are_refused_with_their_flag_and_value(self):
        workspace = str(uuid.uuid4())
        self.add(workspace)
        for flag, values in (("--requests", ("0", "-1", "x", "1.5", "1000001", "99999999999999999999")),
                             ("--files", ("0", "-1", "many", "1000001")),
                             ("--bytes", ("0", "-1", "10M", "1MB", "2TiB", "99999999999TiB", "1e6")),
                             ("--expires", ("0", "0s", "-5m", "500ms", "31d", "soon", "99999999999999d")),
                             ("--types", ("image", "a/b,", "/")), ("--note", ("x" * 256,))):
            for value in values:
                said = self.run_bad("grant", "create", workspace, flag, value, code=2)
                self.assertIn(f"{flag} must be", said, value)
                if flag not in ("--types", "--note"):
                    self.assertIn(f'"{value}"', said)
        self.assertIn('"11m9d"', self.run_bad("token", "issue", workspace, "--expires", "11m9d", code=2))
        self.assertIn("--scope must be", self.run_bad("token", "issue", workspace, "--scope", "all", code=2))
        self.assertEqual(json.loads(self.run_ok("grant", "list", workspace, "--json")[0]), [], "nothing was made")

    def test_a_grant_in_tables_and_in_json(self):
        workspace = str(uuid.uuid4())
        self.add(workspace)
        made = json.loads(self.run_ok("grant", "create", workspace, "--requests", "20000", "--bytes", "10MiB",
                                      "--files", "30000", "--note", "Büro", "--json")[0])
        told_tokens.remember(made["grant"])
        self.assertEqual((made["max_requests"], made["max_files"], made["max_bytes"]), (20000, 30000, 10 << 20))
        for words, leads in (((), "http://127.0.0.1:8080/send#"),
                             (("--public-url", "https://files.example.com/box"), "https://files.example.com/box/send#")):
            link, said = self.run_ok("grant", "create", workspace, "--note", "second", *words)
            told_tokens.remember(link.strip().rpartition("#")[2])
            self.assertTrue(link.startswith(leads), link)
            self.assertEqual("leads to this machine" in said, not words, said)
        head, *rows = self.run_ok("grant", "list", workspace.upper())[0].splitlines()
        row = next(row for row in rows if "Büro" in row)
        self.assertEqual(row[head.index("BYTES LEFT"):head.index("EXPIRES")].strip(), "10 MiB of 10 MiB")
        listed = json.loads(self.run_ok("grant", "list", workspace, "--json")[0])
        self.assertEqual([each["left"]["bytes"] for each in listed if each["note"] == "Büro"], [10 << 20])


if __name__ == "__main__":
    unittest.main()
