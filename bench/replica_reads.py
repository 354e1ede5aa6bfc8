"""Measures what a standby takes off the primary: bench/run replica_reads.

A primary and a streaming standby on this machine, and the same work by a server with --replica-url and one without.
What counts is CPU of the primary's processes for a request; the standby's own shows what it costs there.
"""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import tempfile
import urllib.request

from cluster import Cluster
from harness import Bench, Server, say

# Rows in each feed, and the number after which a poll reads.
POLLS = {"poll, 100 rows": (101, 1), "poll, 10 rows": (11, 1), "poll, 1 row": (2, 1), "poll, no row": (1, 1)}
FETCHES = ("fetch:10KiB", "fetch:100KiB", "fetch:256KiB", "fetch:1MiB")
WORKSPACES = 16
PORT = 5433
ENOUGH_ROOM = ("--workspace-max-bytes", "0", "--workspace-max-files", "0")


def as_postgres(program, *words):
    folder = os.environ.get("RESTANTE_PG_BIN", "/usr/lib/postgresql/15/bin")
    command = [f"{folder}/{program}", *words]
    if os.geteuid() == 0:
        command = ["runuser", "-u", "postgres", "--", *command]
    # In a session of its own it is not interrupted together with this program.
    subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL, start_new_session=True)


class Standby:
    """Runs inside a with statement."""

    def __init__(self, cluster):
        self._cluster, self._data = cluster, f"{cluster.folder}/standby"

    def __enter__(self):
        as_postgres("pg_basebackup", "-h", self._cluster.folder, "-U", "postgres", "-D", self._data, "-R",
                    "--checkpoint=fast")
        with open(f"{self._data}/postgresql.auto.conf", "a") as file:
            file.write(f"port = {PORT}\n")
        as_postgres("pg_ctl", "-D", self._data, "-w", "-l", f"{self._cluster.folder}/standby-log", "start")
        return self

    def __exit__(self, *_):
        as_postgres("pg_ctl", "-D", self._data, "-w", "-m", "immediate", "stop")

    @property
    def conninfo(self):
        return self._cluster.conninfo().replace("port=5432", f"port={PORT}")

    @property
    def postmaster(self):
        return int(pathlib.Path(self._data, "postmaster.pid").read_text().split()[0])


def cpu_seconds(postmaster):
    """Of a PostgreSQL and its processes, ended ones included."""
    ticks = 0
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(stat.parent.name) == postmaster:
                ticks += sum(map(int, fields[11:15]))
            elif int(fields[1]) == postmaster:
                ticks += sum(map(int, fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def counted_reads(server):
    """How many ended in which way; none without a standby."""
    with urllib.request.urlopen(f"http://{server.metrics}/metrics", timeout=30) as answer:
        text = answer.read().decode()
    return {outcome: float(count) for outcome, count in
            re.findall(r'^molecule_replica_reads_total{outcome="(\w+)"} (\S+)$', text, re.M)}


@contextlib.contextmanager
def feeds(server, rows, after):
    """The flags for polls of new workspaces, each with so many rows about the size of those of uploads."""
    row = json.dumps({"activity_type": "agent_log", "summary": "wrote a line of its log",
                      "request_body": {"text": "x" * 300}}).encode()
    with tempfile.NamedTemporaryFile("w", suffix=".cursors") as file:
        for _ in range(WORKSPACES):
            identity, token = server.register()
            for _ in range(rows):
                request = urllib.request.Request(
                    f"http://{server.http}/workspaces/{identity}/activity", row,
                    {"Content-Type": "application/json", "Authorization": f"Bearer {token}"})
                urllib.request.urlopen(request, timeout=30).close()
            file.write(f"{identity} {token} {after}\n")
        file.flush()
        yield "--cursors", file.name


def measure(bench, name, work, flags, standby):
    """One line; the standby's CPU includes what it replays."""
    before, reads = cpu_seconds(standby.postmaster), counted_reads(bench.server)
    row, = bench.run(work, *flags, show=False)
    spent = cpu_seconds(standby.postmaster) - before
    reads = {outcome: count - reads.get(outcome, 0) for outcome, count in
             counted_reads(bench.server).items()}
    done = row["rate"] * bench.seconds
    return {"work": name, "rate": row["rate"], "p99_us": row["p99_us"], "server_us": row["server_cpu_us"],
            "primary_us": row["postgres_cpu_us"], "standby_us": spent / done * 1e6 if done else 0, "reads": reads}


def show(name, row):
    asked = sum(row["reads"].values())
    share = f"{row['reads'].get('served', 0) / asked:9.0%}" if asked else f"{'–':>9}"
    print(f"{row['work']:14} {name:8} {row['rate']:9,.0f} {row['primary_us']:12,.0f} {row['standby_us']:12,.0f} "
          f"{row['server_us']:11,.0f} {share}", flush=True)


def compare(benches, name, work, flags, standby):
    rows = {which: measure(bench, name, work, flags, standby) for which, bench in benches.items()}
    for which, row in rows.items():
        show(which, row)
    return {"id": "replica_reads: " + name, **rows}


def run(given):
    say("replica_reads: starting a primary, a standby and two servers …")
    found = []
    with Cluster() as cluster, Standby(cluster) as standby, contextlib.ExitStack() as stack:
        servers = {}
        for name, flags in (("without", ()), ("with", ("--replica-url", standby.conninfo))):
            servers[name] = Server(*ENOUGH_ROOM, *flags, cluster=cluster)
            stack.callback(servers[name].stop)
        print(f"{'':14} {'standby':8} {'rate/s':>9} {'primary, µs':>12} {'standby, µs':>12} {'server, µs':>11} "
              f"{'served':>9}", flush=True)
        benches = {name: Bench(server, given.seconds) for name, server in servers.items()}
        for name, (rows, after) in POLLS.items():
            with feeds(servers["without"], rows, after) as flags:
                found.append(compare(benches, name, "poll:10", flags, standby))
        for work in FETCHES:
            found.append(compare(benches, work, work, (), standby))
            cluster.sql("TRUNCATE pending_uploads, upload_requests")
    return found
