"""The operator's view: metrics that Prometheus can parse, alerts and a unit file that work, documents that
match the program, and the commands `sweep` and `status`."""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import unittest

from http_wire import await_true
from pg_client import format_conninfo, parse_conninfo
from pg_proxy import upstream_of
from proxy import Proxy
from server_case import ServerCase
from server_process import BINARY, Server, run_command
from testbed import Database

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
DOCS = SOURCE / "docs"
METRIC = re.compile(r"\bmolecule_[a-z_]+")


def run_tool(*words, text=None):
    done = subprocess.run(words, input=text, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def family(name):
    """The name of a metric without a histogram's suffix."""
    return re.sub(r"_(bucket|sum|count)$", "", name)


def stage(db, count, acked_at="NULL", expires_at="now() + interval '1 day'", fetched_at="NULL"):
    """Inserts staged files directly into the table; the times are SQL."""
    db.session.query(
        "INSERT INTO pending_uploads (workspace_id, content, size_bytes, filename, sha256, acked_at, expires_at, "
        "fetched_at) SELECT gen_random_uuid(), 'content', 7, 'f.txt', sha256('content'), "
        f"{acked_at}, {expires_at}, {fetched_at} FROM generate_series(1, {count}) AS i")


class Documents(unittest.TestCase):
    def test_the_unit_file_passes_systemd(self):
        text = (DOCS / "restante.service").read_text()
        self.assertIn("/usr/local/bin/restante", text)
        with tempfile.TemporaryDirectory() as folder:
            unit = pathlib.Path(folder, "restante.service")
            unit.write_text(text.replace("/usr/local/bin/restante", os.path.abspath(BINARY)))
            self.assertEqual(run_tool("systemd-analyze", "verify", str(unit)), (0, ""))
            # Tenths of systemd's exposure level, which calls up to 2.0 "OK": 1.9 when this was written.
            code, told = run_tool("systemd-analyze", "security", "--offline=true", "--threshold=20", str(unit))
            self.assertEqual(code, 0, told)

    def test_the_alerts_pass_promtool(self):
        code, told = run_tool("promtool", "check", "rules", str(DOCS / "alerts.yml"))
        self.assertEqual(code, 0, told)

    def test_the_alerts_fire_when_they_should_and_only_then(self):
        code, told = run_tool("promtool", "test", "rules", str(SOURCE / "test" / "e2e" / "alerts_test.yml"))
        self.assertEqual(code, 0, told)

    def test_every_alert_has_a_case_that_fires_and_one_that_does_not(self):
        alerts = set(re.findall(r"- alert: (\w+)", (DOCS / "alerts.yml").read_text()))
        cases = (SOURCE / "test" / "e2e" / "alerts_test.yml").read_text()
        self.assertEqual(alerts, set(re.findall(r"alertname: (\w+)\n +exp_alerts:\n +- exp_labels", cases)))
        self.assertEqual(alerts, set(re.findall(r"alertname: (\w+)}", cases)))

    def test_every_alert_is_explained(self):
        alerts = re.findall(r"- alert: (\w+)", (DOCS / "alerts.yml").read_text())
        self.assertGreater(len(alerts), 5)
        text = (DOCS / "operations.md").read_text()
        self.assertEqual([alert for alert in alerts if f"`{alert}`" not in text], [])

    def test_the_table_of_settings_is_what_the_help_says(self):
        loader = importlib.machinery.SourceFileLoader("settings_table", str(SOURCE / "scripts" / "settings_table"))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader("settings_table", loader))
        loader.exec_module(module)
        self.assertEqual(module.written(), module.table(BINARY), "run scripts/settings_table BINARY --write")

    def test_the_dashboard_is_json_and_its_expressions_are_queries(self):
        panels = json.loads((DOCS / "grafana-dashboard.json").read_text())["panels"]
        expressions = [target["expr"] for panel in panels for target in panel.get("targets", [])]
        self.assertGreater(len(expressions), 15)
        rows = {panel["title"] for panel in panels if panel["type"] == "row"}
        self.assertLessEqual({"Push", "Content", "Grants", "Quotas", "Agents"}, rows)
        rules = {"groups": [{"name": "panels", "rules": [
            {"record": f"panel:{i}", "expr": expr.replace("$instance", ".*")} for i, expr in enumerate(expressions)]}]}
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            json.dump(rules, file)  # JSON is YAML too
            file.flush()
            code, told = run_tool("promtool", "check", "rules", file.name)
        self.assertEqual(code, 0, told)


class Metrics(ServerCase):
    def scrape(self):
        return self.server.get("/metrics", metrics=True).body.decode()

    def test_promtool_reads_them_and_has_nothing_to_say(self):
        self.server.get("/nowhere")
        self.assertEqual(run_tool("promtool", "check", "metrics", text=self.scrape()), (0, ""))

    def test_every_metric_is_documented_and_the_dashboard_and_alerts_name_no_other(self):
        documented = set(METRIC.findall((DOCS / "operations.md").read_text()))
        served = {family(name) for name in METRIC.findall(self.scrape())}
        self.assertEqual(served - documented, set())
        for file in ("alerts.yml", "grafana-dashboard.json"):
            named = {family(name) for name in METRIC.findall((DOCS / file).read_text())}
            self.assertEqual({name for name in named - documented if not name.endswith("_uploads_")}, set(), file)

    def test_the_gauges_tell_what_waits(self):
        stage(self.db, 3)
        stage(self.db, 2, fetched_at="now()")
        with Server(self.db.conninfo) as fresh:  # it reads the gauges at startup, and then every 15 s
            name = "molecule_pending_uploads_unacked_files"
            await_true(lambda: fresh.metrics().get(name) == 5, 10, "the gauges to be read")
            told = fresh.metrics()
        self.assertEqual(told["molecule_pending_uploads_unacked_bytes"], 35)
        self.assertEqual(told["molecule_pending_uploads_never_fetched_files"], 3)
        self.assertEqual(told["molecule_pending_uploads_fetched_unacked_files"], 2)
        self.assertEqual(told["molecule_pending_uploads_estimated"], 0)
        self.db.session.query("TRUNCATE pending_uploads")


class ReadyLine(unittest.TestCase):
    def setUp(self):
        self.db = self.enterContext(Database())
        self.assertEqual(run_command("migrate", "--database-url", self.db.conninfo)[0], 0)
        self.link = self.enterContext(Proxy(upstream_of(self.db.conninfo)))
        self.url = format_conninfo({**parse_conninfo(self.db.conninfo), "host": "127.0.0.1", "port": str(self.link.port)})

    def test_who_has_read_it_finds_a_server_that_is_ready(self):
        self.link.conditions.latency = 0.02
        with Server(self.url, "--no-migrate") as server:
            answer = server.get("/readyz")
            self.assertEqual((answer.status, answer.json()), (200, {"status": "ready"}))

    def test_without_a_database_it_listens_all_the_same(self):
        self.link.conditions.refuse = True
        with Server(self.url, "--no-migrate") as server:
            self.assertEqual(server.get("/readyz").status, 503)
            self.link.conditions.refuse = False
            server.wait_ready()


class Sweeping(unittest.TestCase):
    def setUp(self):
        self.db = self.enterContext(Database())
        self.assertEqual(run_command("migrate", "--database-url", self.db.conninfo)[0], 0)

    def left(self):
        return int(self.db.session.value("SELECT count(*) FROM pending_uploads"))

    def sweep(self, *flags):
        return run_command("sweep", "--database-url", self.db.conninfo, *flags)

    def test_the_command_runs_one_cycle_and_prints_counts(self):
        stage(self.db, 4, acked_at="now() - interval '2 hours'")
        stage(self.db, 3, acked_at="now() - interval '10 minutes'")
        stage(self.db, 2, expires_at="now() - interval '1 second'")
        code, out, _ = self.sweep()
        self.assertEqual((code, out), (0, "acked 4\nexpired 2\nrequests 0\nactivity 0\nreceipts 0\n"))
        code, out, _ = self.sweep("--ack-retention", "1s")
        self.assertEqual((code, out), (0, "acked 3\nexpired 0\nrequests 0\nactivity 0\nreceipts 0\n"))
        self.assertEqual(self.left(), 0)

    def test_the_command_says_what_went_wrong(self):
        self.db.session.query("DROP TABLE pending_uploads")
        code, _, err = self.sweep()
        self.assertEqual(code, 1)
        self.assertIn("the sweep did not finish", err)

    def test_a_server_sweeps_at_start_and_again(self):
        stage(self.db, 5, expires_at="now() - interval '1 second'")
        with Server(self.db.conninfo, "--sweep-interval", "200ms") as server:
            await_true(lambda: self.left() == 0, 10, "the sweep at start")
            stage(self.db, 6, acked_at="now() - interval '2 hours'")
            name = 'molecule_pending_uploads_swept_total{outcome="%s"}'
            await_true(lambda: server.metrics().get(name % "acked") == 6, 10, "the next sweep")
            self.assertEqual(server.metrics()[name % "expired"], 5)
            done = [line for line in server.log_lines() if line["event"] == "sweep_done"]
        self.assertEqual([(line["acked"], line["expired"]) for line in done], [(0, 5), (6, 0)])

    def test_a_server_stops_in_the_middle_of_a_sweep(self):
        stage(self.db, 30000, acked_at="now() - interval '2 hours' - i * interval '1 ms'")
        with Server(self.db.conninfo, "--shutdown-grace", "2s") as server:
            await_true(lambda: self.left() < 30000, 20, "the sweep to begin")
            self.assertEqual(server.stop(), 0)
            self.assertGreater(self.left(), 0)

    def test_two_servers_share_a_backlog(self):
        stage(self.db, 4000, expires_at="now() - i * interval '1 ms'")
        with Server(self.db.conninfo) as one, Server(self.db.conninfo) as other:
            await_true(lambda: self.left() == 0, 20, "the backlog to go")
            name = 'molecule_pending_uploads_swept_total{outcome="%s"}'
            total = lambda outcome: sum(server.metrics().get(name % outcome, 0) for server in (one, other))
            await_true(lambda: total("expired") == 4000, 10, "both to have counted")
            self.assertEqual(total("error"), 0)


class Status(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.db.add_workspace()
        stage(cls.db, 3)
        stage(cls.db, 1, fetched_at="now()")
        stage(cls.db, 2, acked_at="now()")

    def status(self, *flags):
        return run_command("status", "--database-url", self.db.conninfo, *flags)

    def test_a_table_for_people(self):
        code, out, _ = self.status()
        self.assertEqual(code, 0)
        self.assertIn("Workspaces  1 (1 poll, 0 push), 0 removed\n", out)
        self.assertIn("Waiting     4 files, 28 bytes", out)
        self.assertIn("3 never fetched, 1 fetched but not acked\n", out)
        self.assertIn("To sweep    2 acked, 0 expired\n", out)
        self.assertRegex(out, r"Last sweep  \d+ (s|min) ago, in \d+ ms: 0 acked, 0 expired\n")
        self.assertRegex(out, rf"Replicas    \S+:{self.server.process.pid}  \d+ connections? from local, for ")

    def test_json_for_programs(self):
        code, out, _ = self.status("--json")
        self.assertEqual(code, 0)
        told = json.loads(out)
        self.assertEqual((told["waiting"]["files"], told["waiting"]["fetched"], told["to_sweep"]["acked"]), (4, 1, 2))
        self.assertEqual(len(told["replicas"]), 1)

    def test_watching_shows_it_again_until_interrupted(self):
        command = [BINARY, "status", "--database-url", self.db.conninfo, "--watch", "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
            alarm = threading.Timer(30, process.kill)
            alarm.start()
            lines = [process.stdout.readline() for _ in range(2)]
            process.send_signal(signal.SIGINT)
            code = process.wait()
            alarm.cancel()
        self.assertEqual(code, 0)
        self.assertLess(*[json.loads(line)["at"] for line in lines])

    def test_a_database_without_schema_is_told_from_one_that_is_away(self):
        with Database() as empty:
            code, _, err = run_command("status", "--database-url", empty.conninfo)
            self.assertEqual(code, 1)
            self.assertIn("run `restante migrate`", err)
        code, _, err = run_command("status", "--database-url", "host=/nowhere dbname=x user=x")
        self.assertEqual(code, 1)
        self.assertIn("/nowhere", err)


class ExampleConfig(unittest.TestCase):
    def test_the_example_starts_a_server(self):
        token = self.enterContext(tempfile.NamedTemporaryFile("w", suffix=".token"))
        token.write("admin-token-of-this-test")
        token.flush()
        with Database() as db, Server(db.conninfo, "--config", str(DOCS / "restante.conf"), "--listen-tls", "127.0.0.1:0",
                                      "--admin-token-file", token.name) as server:
            server.wait_ready()

    def test_the_service_takes_every_setting_from_the_file(self):
        """What the unit set would override a line of it; and commands that are given the file have to find the same data."""
        unit, config = (DOCS / "restante.service").read_text(), (DOCS / "restante.conf").read_text()
        self.assertNotIn("RESTANTE_", unit)
        self.assertIn(f"\ndata-dir = /var/lib/{re.search('^StateDirectory=(.*)$', unit, re.MULTILINE)[1]}\n", config)
        self.assertIn("\nadmin-token-file = /etc/restante/admin-token\n", config)

    def test_commands_read_the_file_of_the_service(self):
        with Database() as db, tempfile.TemporaryDirectory() as folder:
            token, config = pathlib.Path(folder, "token"), pathlib.Path(folder, "restante.conf")
            token.write_text("admin-token-of-this-test")
            example = (DOCS / "restante.conf").read_text()
            config.write_text(example.replace("/etc/restante/admin-token", str(token)) + f"database-url = {db.conninfo}\n")
            self.assertEqual(run_command("migrate", "--config", str(config))[0], 0)
            code, out, err = run_command("status", "--config", str(config))
            self.assertEqual(code, 0, err)
            self.assertIn("Waiting ", out)


if __name__ == "__main__":
    unittest.main()
