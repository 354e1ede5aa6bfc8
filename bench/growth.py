"""Measures how costs grow with the number of rows and connections: bench/run growth.

Prints a table and draws docs/growth.svg.
"""

import tempfile
import time
import uuid

import chart
from figures import readable
from harness import ROOT, SERVER, Bench, running_server, say, sweep_until_empty

WORKSPACES = 16
ROWS_PER_POLL = 10

# The feed of one workspace, as uploads write it. Ids increase with time, as the server's own do.
FEED = """
INSERT INTO activity_logs
       (id, workspace_id, seq, activity_type, target_id, method, summary, request_body, created_at)
SELECT (lpad(to_hex(i), 8, '0') || '{tail}')::uuid, '{workspace}', i, 'a2a_receive', '{workspace}',
       'chat_upload_receive', 'chat_upload_receive: report.pdf',
       json_build_object('file_id', '{workspace}', 'name', 'report.pdf', 'mimeType', 'application/pdf',
                         'size', 10240, 'uri', 'platform-pending:{workspace}/{workspace}',
                         'sha256', repeat('0', 64), 'original_name', 'report.pdf'),
       now() - interval '1 hour' + i * interval '1 ms'
  FROM generate_series({first}, {last}) AS i;
INSERT INTO activity_heads AS h (workspace_id, seq, last_at) VALUES ('{workspace}', {last}, now())
    ON CONFLICT (workspace_id) DO UPDATE SET seq = excluded.seq, last_at = excluded.last_at;
"""

# Staged files. They are small because only their number matters here.
STAGED = """
INSERT INTO pending_uploads (workspace_id, content, size_bytes, filename, sha256, created_at, expires_at)
SELECT ('00000000-0000-4000-8000-' || lpad(to_hex(i % 1000), 12, '0'))::uuid, c, octet_length(c), 'f.bin',
       sha256(c), now() - {age} - i * interval '1 ms', now() + interval '1 day' - {age} - i * interval '1 ms'
  FROM generate_series(1, {rows}) AS i,
       LATERAL (SELECT decode(repeat(md5(i::text), 6), 'hex') AS c) AS made
"""


def report(what, at, unit, value, note=""):
    print(f"{what:34} {at:>11,}  {readable(value):>9} {unit}{note}", flush=True)


class Feed:
    """Workspaces whose feed is written with SQL, and the cursors from which they poll."""

    def __init__(self, server):
        self.server = server
        self.workspaces = [(*server.register(), f"-0000-7000-8000-{uuid.uuid4().hex[:12]}")
                           for _ in range(WORKSPACES)]
        self.rows = 0

    def grow(self, rows):
        first, last = self.rows // WORKSPACES + 1, rows // WORKSPACES
        for workspace, _, tail in self.workspaces:
            self.server.sql(FEED.format(workspace=workspace, tail=tail, first=first, last=last))
        self.server.sql("VACUUM ANALYZE activity_logs; VACUUM ANALYZE activity_heads; CHECKPOINT")
        self.rows = rows

    def write_cursors(self, path):
        seq = self.rows // WORKSPACES - ROWS_PER_POLL
        with open(path, "w") as out:
            out.writelines(f"{workspace} {token} {seq}\n" for workspace, token, _ in self.workspaces)


def measure_polls(bench, most):
    """CPU of a poll that finds ten rows, in microseconds: the server's and PostgreSQL's together."""
    feed, points = Feed(bench.server), []
    for rows in [rows for rows in (1_000, 10_000, 100_000, 1_000_000, 5_000_000) if rows <= most]:
        say(f"writing the feed: {rows:,} rows …")
        feed.grow(rows)
        with tempfile.NamedTemporaryFile("w", suffix=".cursors") as cursors:
            feed.write_cursors(cursors.name)
            row, = bench.run("poll:10", "--cursors", cursors.name, show=False)
        points.append((rows, row["server_cpu_us"] + row["postgres_cpu_us"]))
        report("poll of 10 rows, activity rows", rows, "µs CPU", points[-1][1],
               f"   {readable(row['rate'])}/s, p99 {row['p99_us'] / 1000:.1f} ms")
    return points


def measure_uploads(bench, most):
    """CPU of an upload of 10 KiB, in microseconds: the server's and PostgreSQL's together."""
    server, points = bench.server, []
    bench.run("upload:10KiB", show=False)  # warm-up: inserts into a new table are cheaper
    for rows in [rows for rows in (0, 10_000, 100_000, 1_000_000) if rows <= most]:
        say(f"staging {rows:,} files …")
        server.delete_files()
        if rows:
            server.sql(STAGED.format(rows=rows, age="interval '0'"))
        server.sql("VACUUM ANALYZE pending_uploads; CHECKPOINT")
        row, = bench.run("upload:10KiB", show=False)
        points.append((rows, row["server_cpu_us"] + row["postgres_cpu_us"]))
        report("upload of 10 KiB, staged files", rows, "µs CPU", points[-1][1],
               f"   {readable(row['rate'])}/s, p99 {row['p99_us'] / 1000:.1f} ms")
    server.delete_files()
    return points


def measure_sweep(bench, most):
    """Microseconds per expired row, including the last cycle, which finds nothing."""
    server, points = bench.server, []
    for rows in [rows for rows in (10_000, 100_000, 1_000_000) if rows <= most]:
        say(f"writing {rows:,} expired files …")
        server.delete_files()
        server.sql(STAGED.format(rows=rows, age="interval '2 days'"))
        server.sql("VACUUM ANALYZE pending_uploads; CHECKPOINT")
        began = time.perf_counter()
        swept, _ = sweep_until_empty(SERVER, server.conninfo)
        took = time.perf_counter() - began
        points.append((rows, took / swept * 1e6))
        report("sweep of a row, expired rows", rows, "µs", points[-1][1],
               f"   {readable(swept / took)} rows/s")
    server.delete_files()
    return points


def measure_idle():
    """KiB of server memory per idle TLS connection. Servers keep memory, so each count gets a new one."""
    points = []
    for count in (100, 1_000, 10_000):
        with running_server() as server:
            row, = Bench(server, 1).run(f"idle:{count}", tls=True, show=False)
        points.append((count, row["server memory for each connection, KiB"]))
        report("idle TLS connection, connections", count, "KiB", points[-1][1])
    return points


def run(given):
    print(f"{'what':34} {'how many':>11}  {'cost of one':>9}")
    with running_server() as server:
        bench = Bench(server, given.seconds)
        uploads = measure_uploads(bench, given.most_rows)
        sweep = measure_sweep(bench, given.most_rows)
        polls = measure_polls(bench, given.most_rows)
    idle = measure_idle()
    panels = [
        chart.Panel("A poll of 10 rows", "activity rows", "µs of CPU", polls),
        chart.Panel("An upload of 10 KiB", "staged files", "µs of CPU", uploads),
        chart.Panel("A sweep, for each row", "expired rows", "µs", sweep),
        chart.Panel("An idle TLS connection", "connections", "KiB of memory", idle),
    ]
    path = ROOT / "docs/growth.svg"
    path.write_text(chart.draw(panels))
    print(f"drawn: {path.relative_to(ROOT)}")
    return [{"id": "growth: " + panel.title, "unit": panel.unit, "points": panel.points} for panel in panels]
