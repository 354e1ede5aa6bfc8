"""The documents against the program: the README's walk-through is run verbatim, and the documented flags,
routes and files are compared with the actual ones."""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from server_case import ServerCase
from server_process import BINARY, Server, run_command

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
README = SOURCE / "README.md"
DOCUMENTS = [README, *sorted((SOURCE / "docs").glob("*.md"))]
VERBS = {"get": "GET", "post": "POST", "delete_": "DELETE", "put": "PUT", "patch": "PATCH"}


def shell_blocks(document):
    return re.findall(r"^```sh\n(.*?)^```$", document.read_text(), re.MULTILINE | re.DOTALL)


def run_bash(script, cwd, **environment):
    """(exit code, stdout, stderr) of a bash that exits at the first failing command."""
    done = subprocess.run(["bash", "-euo", "pipefail"], input=script, cwd=cwd, capture_output=True, text=True, timeout=300,
                          env={**os.environ, **environment})
    return done.returncode, done.stdout, done.stderr


class WithServer(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.base = "http://%s:%d" % cls.server.address

    def folder(self):
        return self.enterContext(tempfile.TemporaryDirectory(prefix="restante-readme-"))


class WalkThrough(WithServer):
    def test_every_block_works_when_pasted_in_order(self):
        blocks = shell_blocks(README)
        self.assertGreaterEqual(len(blocks), 6)
        # Files are created in a directory that mktemp names; here it has to be removed again.
        mark = "echo '<<block>>'\n"
        code, out, err = run_bash(mark.join(blocks), self.folder(), BASE=self.base, TMPDIR=self.folder())
        self.assertEqual(code, 0, f"{out}\n{err}")
        said = out.split("<<block>>\n")
        self.assertEqual(len(said), len(blocks))
        self.check_upload(said[2])
        self.check_inbox(said[3])
        self.assertEqual(said[4], "Hello, workspace.\nthe same bytes\n")
        self.check_acks(said[5])
        self.check_events(said[6])

    def check_upload(self, said):
        files = json.loads(said)["files"]
        self.assertEqual([(file["name"], file["size"]) for file in files],
                         [("hello.txt", 18), ("holiday_photo.jpg", 1_000_000)])

    def check_inbox(self, said):
        rows = json.loads(said)
        self.assertEqual([(row["seq"], row["request_body"]["name"]) for row in rows],
                         [(1, "hello.txt"), (2, "holiday_photo.jpg")])

    def check_acks(self, said):
        self.assertRegex(said, r'^\{"acked":true\}\s*\{"acked":\["[0-9a-f-]{36}"\],"not_found":\[\]\}\s*\[\]\s*$')

    def check_events(self, said):
        self.assertIn('"status":"queued"', said)
        events = re.findall(r"^id: (\d+)\ndata: (.*)$", said, re.MULTILINE)
        told = [(int(seq), json.loads(data)["payload"]["method"]) for seq, data in events]
        self.assertEqual(told, [(2, "chat_upload_receive"), (3, "message/send")])


class Reference(WithServer):
    def test_every_line_of_the_reference_works(self):
        blocks = shell_blocks(SOURCE / "docs" / "api.md")
        metrics = "http://%s:%d" % self.server.metrics_address
        code, out, err = run_bash("".join(blocks), self.folder(), BASE=self.base, METRICS=metrics, TMPDIR=self.folder())
        self.assertEqual(code, 0, f"{out}\n{err}")
        for expected in ('{"revoked":true}', '{"status":"queued","delivery_mode":"poll","method":"message/send"}',
                         '"attachments":[', '{"status":"logged"}', '{"last_acked_seq":2}', "Content-Range: bytes 2-3/7",
                         '{"acked":true}', "\nid: 3\ndata: ", "101 Switching Protocols", '{"status":"ready"}',
                         '{"status":"removed","cascade_deleted":0}', '"code":"invalid_token"'):
            self.assertIn(expected, out)


class Greeting(WithServer):
    def greet(self, data_dir, server=None, http=True, **environment):
        server = server or self.server
        ready = "restante ready http=%s https=%s metrics=%s:%d\n" % (
            "%s:%d" % server.address if http else "", "" if http else "%s:%d" % server.tls_address, *server.metrics_address)
        done = subprocess.run([SOURCE / "scripts" / "greet", data_dir], input=ready, check=True, capture_output=True,
                              text=True, timeout=60, env={**os.environ, **environment})
        self.assertEqual(done.stderr, "")
        self.assertTrue(done.stdout.startswith(ready), done.stdout)
        return done.stdout

    def lines_to_try(self, greeting):
        return "".join(f"{line.strip()}\n" for line in greeting.splitlines()
                       if re.match(r"    (W=|A=|curl )", line)).replace("curl ", "curl -fsS ")

    def test_what_it_offers_can_be_tried(self):
        folder = self.folder()
        greeting = self.greet(folder)
        self.assertIn(f"API      {self.base}\n", greeting)
        self.assertIn(f"rm -rf {folder}\n", greeting)
        code, out, err = run_bash(self.lines_to_try(greeting), SOURCE)
        self.assertEqual(code, 0, err)
        # Twice in the response (name and original_name), twice in the feed, once in the list.
        self.assertEqual(out.count('"README.md"'), 5, out)

    def test_the_same_workspace_is_offered_again_while_its_token_opens(self):
        folder = self.folder()
        def without_link(greeting):
            return re.sub(r"#[\w-]{43}", "#…", greeting)

        first, again = self.greet(folder), self.greet(folder)
        self.assertEqual(without_link(first), without_link(again))
        kept = pathlib.Path(folder, "try-it")
        self.assertEqual(kept.stat().st_mode & 0o777, 0o600)
        kept.write_text(kept.read_text()[:-8] + "AAAAAAA\n")
        self.assertNotEqual(without_link(self.greet(folder)), without_link(first))

    def test_the_link_to_the_page_is_good_for_sending(self):
        greeting = self.greet(self.folder())
        self.assertIn(f"Page     {self.base}/\n", greeting)
        grant = re.search(rf"{re.escape(self.base)}/send#([\w-]{{43}})\n", greeting).group(1)
        code, out, err = run_bash(f"curl -fsS -H 'Authorization: Bearer {grant}' {self.base}/token", SOURCE)
        self.assertEqual(code, 0, err)
        self.assertEqual(json.loads(out)["grant"]["left"]["files"], 20)

    def test_without_the_page_there_is_no_address_of_it(self):
        with Server(self.db.conninfo, "--web", "off") as server:
            greeting = self.greet(self.folder(), server.wait_ready())
        self.assertNotIn("Page ", greeting)
        self.assertNotIn("/send", greeting)
        self.assertEqual(len(self.lines_to_try(greeting).splitlines()), 5)

    def test_https_alone_has_a_page_and_what_can_be_tried_where_the_certificate_is_trusted(self):
        folder = self.folder()
        certificate, key = f"{folder}/of.crt", f"{folder}/of.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                        "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "10", "-keyout", key, "-out",
                        certificate], check=True, capture_output=True, timeout=60)
        with Server(self.db.conninfo, "--listen-tls", "127.0.0.1:0", "--tls-cert", certificate, "--tls-key", key) as server:
            server.wait_ready()
            base = "https://%s:%d" % server.tls_address
            unknown = self.greet(self.folder(), server, http=False)
            trusted = self.greet(self.folder(), server, http=False, CURL_CA_BUNDLE=certificate)
        for greeting in (unknown, trusted):
            self.assertIn(f"Page     {base}/\n", greeting)
        self.assertIn("restante workspace add", unknown)
        self.assertRegex(trusted, rf"{re.escape(base)}/send#[\w-]{{43}}\n")
        self.assertIn(f"W={base}/workspaces/", trusted)

    def test_nothing_is_added_to_the_database_of_somebody_else(self):
        count = "SELECT count(*) FROM workspaces"
        before = self.db.session.value(count)
        self.assertIn("restante workspace add", self.greet(""))
        self.assertEqual(self.db.session.value(count), before)


class Documents(unittest.TestCase):
    def test_the_readme_has_every_setting(self):
        loader = importlib.machinery.SourceFileLoader("settings_table", str(SOURCE / "scripts" / "settings_table"))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader("settings_table", loader))
        loader.exec_module(module)
        self.assertEqual(module.written(README), module.short_table(BINARY), "run scripts/settings_table BINARY --write")

    def test_flags_that_the_documents_name_exist(self):
        known = set()
        for words in ("serve", "migrate", "status", "workspace add", "workspace list", "workspace secret",
                      "token list", "content check", "content move", "pull", "send", "login"):
            code, out, _ = run_command(*words.split(), "--help")
            self.assertEqual(code, 0)
            known |= set(re.findall(r"^  (--[a-z0-9-]+)", out, re.MULTILINE))
        text = README.read_text() + (SOURCE / "docs" / "operations.md").read_text()
        named = set(re.findall(r"`(--[a-z][a-z0-9-]+)", text))
        self.assertEqual(named - known - {"--help"}, set())

    def test_each_promise_names_tests_that_check_can_run(self):
        names = re.findall(r"\[(\w+)\]\((test/(\w+)/\w+\.\w+)\)", README.read_text())
        self.assertGreater(len(names), 30)
        for name, path, ring in names:
            code, pattern, _ = run_bash(f"source scripts/common.sh; test_pattern {name}", SOURCE)
            self.assertEqual(code, 0, name)
            self.assertEqual([test for test in names_for_ctest(path, ring) if not re.search(pattern.strip(), test)], [], name)
        self.assertEqual(run_bash("source scripts/common.sh; test_pattern pool", SOURCE)[1], "pool\n")

    def test_every_route_is_documented_and_every_documented_route_exists(self):
        table = (SOURCE / "server" / "api" / "route_table.cpp").read_text()
        routes = {(VERBS[verb], path) for verb, path in re.findall(r'^ +\{(\w+), +"(/[^"]*)"', table, re.MULTILINE)}
        self.assertGreater(len(routes), 8)
        headings = re.findall(r"^### (.*)$", (SOURCE / "docs" / "api.md").read_text(), re.MULTILINE)
        documented = {tuple(route.split()) for heading in headings for route in re.findall(r"[A-Z]+ /[^\s`]*", heading)}
        self.assertEqual(documented ^ routes, set())

    def test_every_error_code_is_documented_and_no_other(self):
        source = (SOURCE / "http" / "message" / "public_errors.cpp").read_text()
        codes = set(re.findall(r'(?:plain|later)\((\d+), "(\w+)"', source))
        codes |= {("401", code) for code in re.findall(r'challenge\("(\w+)"', source)}
        text = (SOURCE / "docs" / "api.md").read_text()
        rows = re.findall(r"^\| (`.*`) \| (\d+) \|", text[text.index("## Errors"):], re.MULTILINE)
        documented = {(status, code) for cells, status in rows for code in re.findall(r"`(\w+)`", cells)}
        # 499 is only logged: the client that would read it has disconnected.
        self.assertEqual(documented ^ (codes - {("499", "client_gone")}), set())

    def test_links_lead_somewhere(self):
        broken = []
        for document in DOCUMENTS:
            text = re.sub(r"^```.*?^```$", "", document.read_text(), flags=re.MULTILINE | re.DOTALL)
            for target in re.findall(r"\]\(([^)\s]+)\)", text):
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, anchor = target.partition("#")
                found = (document.parent / path).resolve() if path else document
                if not found.exists() or (anchor and anchor not in anchors(found)):
                    broken.append(f"{document.name}: {target}")
        self.assertEqual(broken, [])

    def test_files_that_the_documents_name_exist(self):
        """Paths in code spans: anything that looks like a source of this tree must exist."""
        missing = []
        for document in DOCUMENTS:
            for path in re.findall(r"`((?:core|cli|http|postgres|client|web|packaging|server|storage|auth|sweeper|sql|test|bench|scripts|docs|cmake)/[\w./-]+)`",
                                   document.read_text()):
                matches = list(SOURCE.glob(path.rstrip("/"))) or list(SOURCE.glob(path + ".*"))
                if not matches:
                    missing.append(f"{document.name}: {path}")
        self.assertEqual(missing, [])


def names_for_ctest(path, ring):
    """Of the tests in a file, as test/CMakeLists.txt makes them."""
    if ring == "e2e":
        return [f"e2e.{pathlib.Path(path).stem.removeprefix('test_')}"]
    found = re.findall(r"^TEST(?:_F)?\((\w+),\s*(\w+)\)", (SOURCE / path).read_text(), re.MULTILINE)
    assert found, path
    return [f"{ring}.{suite}.{test}" for suite, test in found]


def anchors(document):
    """The headings of a document, as link anchors."""
    titles = re.findall(r"^#+ (.*)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


if __name__ == "__main__":
    unittest.main()
