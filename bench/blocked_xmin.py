"""Measures uploads, polls and sweeps while a snapshot keeps VACUUM from removing anything: bench/run blocked_xmin.

Each upload updates the head of its workspace. As long as somebody may still look at the former versions, an index scan
steps over them, so that one busy workspace is the worst case; many workspaces share the same number of versions.
A sweep steps over the files that were swept before it.
"""

import contextlib
import subprocess
import tempfile
import time

from harness import SERVER, Bench, fail, running_server, say

ROUNDS = 5
SWEPT = 500  # files, by each sweep
EXPIRE = ("UPDATE pending_uploads SET expires_at = now() - interval '1 second' WHERE file_id = ANY (ARRAY("
          f"SELECT file_id FROM pending_uploads ORDER BY file_id LIMIT {SWEPT}))")
# Nothing is acked, so the quota would end the uploads.
UNLIMITED = ("--workspace-max-files", "0", "--workspace-max-bytes", "0")
HELD = ("SELECT coalesce(max(greatest(age(backend_xmin), age(backend_xid))), 0) FROM pg_stat_activity "
        "WHERE pid <> pg_backend_pid() AND (datname = current_database() OR datid IS NULL)")


@contextlib.contextmanager
def old_snapshot(server):
    """A session that looks at the database as it is now, for as long as this lasts."""
    session = subprocess.Popen(["psql", "-qAtX", server.conninfo], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True)
    session.stdin.write("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM activity_heads;\n")
    session.stdin.flush()
    session.stdout.readline()
    try:
        yield
    finally:
        session.stdin.close()
        session.wait(timeout=30)
        session.stdout.close()


def sweep(server):
    """Seconds for the SWEPT files that expired just now."""
    server.sql(EXPIRE)
    begun = time.monotonic()
    done = subprocess.run([SERVER, "sweep", "--database-url", server.conninfo], capture_output=True, text=True)
    if done.returncode or f"expired {SWEPT}\n" not in done.stdout:
        fail(f"the sweep said: {done.stdout}{done.stderr}")
    return time.monotonic() - begun


class Round:
    def __init__(self, bench, workspaces):
        self.bench, self.points = bench, []
        self._cursors = tempfile.NamedTemporaryFile("w", suffix=".cursors")
        for _ in range(workspaces):
            self._cursors.write("{} {} 0\n".format(*bench.server.register()))
        self._cursors.flush()

    def measure(self, state):
        flags = ("--cursors", self._cursors.name, "--connections", "16")
        upload, = self.bench.run("upload:10KiB", *flags, "--warm-up", "0", show=False)
        poll, = self.bench.run("poll:10", *flags, "--warm-up", "0", show=False)
        swept = sweep(self.bench.server)
        held = int(self.bench.server.sql(HELD))
        self.points.append({"state": state, "held": held, "uploads": upload["rate"], "polls": poll["rate"],
                            "sweep_s": swept})
        print(f"{state:28} {held:>12,} {upload['rate']:>11,.0f} {upload['p99_us'] / 1000:>9.1f} "
              f"{upload['postgres_cpu_us']:>12,.0f} {poll['rate']:>9,.0f} {poll['p99_us'] / 1000:>9.1f} "
              f"{swept * 1000:>9,.0f}", flush=True)
        return upload["rate"]


def measure(given, workspaces):
    print(f"{workspaces} workspace(s)             {'held':>15} {'uploads/s':>11} {'p99, ms':>9} {'postgres, µs':>12} "
          f"{'polls/s':>9} {'p99, ms':>9} {'sweep, ms':>9}", flush=True)
    with running_server(*UNLIMITED) as server:
        bench = Bench(server, given.seconds)
        work = Round(bench, workspaces)
        free = work.measure("nothing held")
        with old_snapshot(server):
            for number in range(1, ROUNDS + 1):
                last = work.measure(f"held, after {number * given.seconds:g} s of uploads")
        server.sql("VACUUM activity_heads; VACUUM upload_requests; VACUUM pending_uploads")
        after = work.measure("released, after VACUUM")
    print(f"held: {last / free:.2f} × the uploads of before; released: {after / free:.2f} ×", flush=True)
    return {"id": f"blocked_xmin: {workspaces} workspaces", "points": work.points}


def run(given):
    say("blocked_xmin: starting a server …")
    return [measure(given, workspaces) for workspaces in (1, 32)]
