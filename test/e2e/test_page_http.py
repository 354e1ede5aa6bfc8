"""The page and the operator's figures as HTTP: caching, coding, who may ask, pages, and the sum over servers."""

import gzip
import re
import time
import unittest

from forms import PLAIN, form, part
from http_wire import Wire, await_true, request_head
from identity_case import IdentityCase
from testbed import Workspace, upload

POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
          "form-action 'none'; frame-ancestors 'none'; base-uri 'none'")
VIEWS = ("/", "/send", "/inbox", "/operator")


class Files(IdentityCase):
    def get(self, path, method="GET", host="localhost", server=None, **headers):
        with Wire((server or self.server).address) as wire:
            fields = [("Host", host), *((name.replace("_", "-"), value) for name, value in headers.items())]
            wire.send(request_head(method, path, fields))
            return wire.read_answer()

    def asset(self, name):
        page = self.get("/").body.decode()
        return "/" + re.search(rf'"(assets/[0-9a-f]{{16}}/{name})"', page).group(1)

    def test_every_view_is_the_same_document_under_the_policy(self):
        pages = [self.get(view) for view in VIEWS]
        for page in pages:
            self.assertEqual((page.status, page.headers["content-type"]), (200, "text/html; charset=utf-8"))
            self.assertEqual(page.headers["content-security-policy"], POLICY)
            self.assertEqual(page.headers["referrer-policy"], "no-referrer")
            self.assertEqual(page.headers["cache-control"], "no-cache")
            self.assertEqual(page.headers["x-content-type-options"], "nosniff")
            self.assertNotIn("access-control-allow-origin", page.headers)
            self.assertEqual(page.body, pages[0].body)

    def test_files_are_immutable_tagged_and_packed(self):
        path = self.asset("lib/main.js")
        plain, packed = self.get(path), self.get(path, Accept_Encoding="br, gzip")
        self.assertEqual(plain.headers["cache-control"], "public, max-age=31536000, immutable")
        self.assertEqual(plain.headers["content-type"], "text/javascript; charset=utf-8")
        self.assertEqual((packed.headers["content-encoding"], packed.headers["vary"]), ("gzip", "Accept-Encoding"))
        self.assertNotIn("content-encoding", plain.headers)
        self.assertEqual(gzip.decompress(packed.body), plain.body)
        self.assertNotEqual(plain.headers["etag"], packed.headers["etag"])
        again = self.get(path, Accept_Encoding="gzip", If_None_Match=packed.headers["etag"])
        self.assertEqual((again.status, again.body), (304, b""))
        self.assertEqual(again.headers["etag"], packed.headers["etag"])
        other = self.get(path, If_None_Match=packed.headers["etag"])
        self.assertEqual(other.status, 200, "the tag of the packed form is not that of the plain one")
        refused = self.get(path, Accept_Encoding="gzip;q=0")
        self.assertEqual(refused.body, plain.body)

    def test_other_builds_and_other_names_are_unknown(self):
        path = self.asset("lib/main.js")
        for wrong in (path.replace("/assets/", "/assets/0"), path.replace("main", "none"), path + "x",
                      re.sub("[0-9a-f]{16}", "0" * 16, path), re.sub("/lib/.*", "/../../etc/passwd", path),
                      "/assets/x/y/z", re.sub("/lib/.*", "/lib/%2e%2e", path)):
            answer = self.get(wrong)
            self.assertIn(answer.status, (400, 404), wrong)
            self.assertEqual(answer.headers["cache-control"], "no-store")
        self.assertEqual(self.get("/", method="POST").status, 405)

    def test_a_foreign_host_does_not_get_the_page(self):
        for path in (*VIEWS, self.asset("lib/main.js")):
            self.assertEqual(self.get(path, host="evil.example").status, 421)

    def test_it_can_be_turned_off_and_the_api_stays(self):
        server = self.start_server("--web", "off")
        for path in (*VIEWS, self.asset("lib/main.js")):
            answer = self.get(path, server=server)
            self.assertEqual((answer.status, answer.json()["code"]), (404, "no_such_route"))
        self.assertEqual(self.call("GET", "/admin/overview", self.admin, server=server).status, 200)
        self.assertNotIn("/send", self.get("/openapi.json", server=server).json()["paths"])
        self.assertIn("/send", self.get("/openapi.json").json()["paths"])


class Tokens(IdentityCase):
    def test_a_bearer_learns_what_it_is_good_for(self):
        workspace, token = self.register()
        seen = self.call("GET", "/token", token).json()
        self.assertEqual(seen, {"scope": "full", "workspace_id": workspace, "workspace_name": "laptop", "expires_at": None,
                                "grant": None})
        grant = self.call("POST", f"/workspaces/{workspace}/upload-grants", token, {"types": ["text/*"], "note": "n"}).json()
        seen = self.call("GET", "/token", grant["grant"]).json()
        self.assertEqual((seen["scope"], seen["workspace_id"], seen["expires_at"]), ("grant", workspace, grant["expires_at"]))
        self.assertEqual(seen["grant"], {"note": "n", "max_requests": 1, "max_files": 5, "max_bytes": 52428800,
                                         "types": ["text/*"], "left": {"requests": 1, "files": 5, "bytes": 52428800}})
        upload(self.server.address, Workspace(workspace, grant["grant"]), form(part("hello", "a.txt", "text/plain")), PLAIN)
        left = self.call("GET", "/token", grant["grant"]).json()["grant"]["left"]
        self.assertEqual(left, {"requests": 0, "files": 4, "bytes": 52428795})
        self.assertEqual(self.call("GET", "/token", self.admin).json()["scope"], "admin")
        self.call("DELETE", f"/workspaces/{workspace}/upload-grants/{grant['grant_id']}", token)
        self.assert_invalid(self.call("GET", "/token", grant["grant"]))
        self.assertEqual(self.call("GET", "/token").status, 401)


class Figures(IdentityCase):
    def ask(self, path, server=None):
        answer = self.call("GET", path, self.admin, server=server)
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual(answer.headers["cache-control"], "no-store")
        return answer.json()

    def send(self, workspace, token, size, server=None):
        answer = upload((server or self.server).address, Workspace(workspace, token), form(part("x" * size, "a.txt")), PLAIN)
        self.assertEqual(answer.status, 200, answer)
        return answer.json()["files"][0]["file_id"]

    def test_only_the_admin_may_ask(self):
        _, token = self.register()
        for path in ("/admin/overview", "/admin/workspaces", "/admin/series"):
            self.assertEqual(self.call("GET", path).json()["code"], "missing_admin_token")
            self.assertEqual(self.call("GET", path, token).json()["code"], "invalid_admin_token")

    def test_lists_in_every_order_and_the_overview(self):
        made = [self.register() for _ in range(3)]
        names = {}
        for number, (workspace, token) in enumerate(made):
            self.send(workspace, token, 100 * (3 - number))
            names[workspace] = number
        self.call("PUT", f"/workspaces/{made[0][0]}/quota", self.admin, {"max_bytes": 1000})
        time.sleep(1.1)  # a list is not counted twice within a second

        def listed(query):
            page = self.ask(f"/admin/workspaces?{query}")
            rows = page["workspaces"]
            while page["next"]:
                page = self.ask(f"/admin/workspaces?{query}&after={page['next']}")
                rows += page["workspaces"]
            return [row for row in rows if row["id"] in names]

        for query in ("order=oldest", "order=bytes", "limit=1", "limit=2&order=bytes"):
            self.assertEqual([names[row["id"]] for row in listed(query)], [0, 1, 2], query)
        self.assertEqual(sorted(names[row["id"]] for row in listed("order=name&limit=2")), [0, 1, 2])
        first = listed("order=bytes")[0]
        self.assertEqual((first["name"], first["files"], first["bytes"], first["max_bytes"], first["own_quota"]),
                         ("laptop", 1, 300, 1000, True))
        for wrong in ("order=size", "after=x", "after=1.x"):
            self.assertEqual(self.call("GET", f"/admin/workspaces?{wrong}", self.admin).status, 400, wrong)

        overview = self.ask("/admin/overview")
        self.assertGreaterEqual(overview["waiting"]["files"], 3)
        self.assertGreaterEqual(overview["workspaces"]["poll"], 3)
        self.assertEqual(len(overview["servers"]), 1)
        self.assertEqual(overview["content_store"]["kind"], "inline")

    def test_a_count_that_takes_too_long_leaves_the_list_as_it_was(self):
        workspace, token = self.register()
        self.send(workspace, token, 100)
        listed = lambda: {row["id"]: row["files"] for row in self.ask("/admin/workspaces?limit=200")["workspaces"]}
        await_true(lambda: listed().get(workspace) == 1, 30, "it is counted")
        count = self.db.session.value("SELECT pg_get_functiondef('refresh_waiting_list'::regproc)")
        self.db.session.query("CREATE OR REPLACE FUNCTION refresh_waiting_list(max_workspaces bigint, max_files bigint) "
                              "RETURNS void LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); END'")
        try:
            self.send(workspace, token, 100)
            self.assertEqual(listed()[workspace], 1)
        finally:
            self.db.session.query(count)
        await_true(lambda: listed()[workspace] == 2, 30, "it is counted again")

    def test_the_series_is_the_sum_of_all_servers(self):
        second = self.start_server(*self.flags)
        workspace, token = self.register()
        for _ in range(3):
            self.send(workspace, token, 1000)
            self.send(workspace, token, 1000, server=second)

        def total(name, server=None):
            return sum(value or 0 for value in self.ask("/admin/series?minutes=5", server)[name])

        # Ten seconds end for both servers; each tells what both did.
        await_true(lambda: total("files") >= 6 and total("files", second) >= 6, 60, "the sum of both servers")
        # Uploads on both sides of a step's end are all there before any one step has both servers.
        await_true(lambda: max(self.ask("/admin/series?minutes=5")["servers"]) == 2, 60, "a step of both servers")
        series = self.ask("/admin/series?minutes=5")
        self.assertEqual((series["step_seconds"], len(series["requests"]), series["all_servers"]), (10, 30, True))
        self.assertGreaterEqual(total("bytes"), 6000)
        self.assertTrue(any(series["p50_us"]))
        for wrong in ("0", "181", "x", "-1"):
            self.assertEqual(self.call("GET", f"/admin/series?minutes={wrong}", self.admin).status, 400)


if __name__ == "__main__":
    unittest.main()
