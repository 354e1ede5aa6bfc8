"""bench/run growth_stores: what an upload costs as numbers grow, for each content store: files that wait, workspaces,
files in a request, and bytes of a file. Prints a table and, if it is complete, draws docs/growth-stores.svg.

The stores outside of the database get every file here (--content-inline-max 0), small ones too. The S3 engine is the
one that ./check uses, on the same machine; its CPU is not counted.
"""

import contextlib
import pathlib
import tempfile

import chart
import harness
import s3
from figures import readable
from harness import ROOT, Bench, running_server, say

WAITING = (0, 10_000, 100_000, 1_000_000)
WORKSPACES = (1, 10, 100, 1_000, 10_000)
FILES = (1, 2, 4, 8, 16, 32, 64)
SIZES = tuple(1024 * 4 ** i for i in range(11))  # 1 KiB to 1 GiB
INLINE_MOST = 16 << 20  # the last of these sizes that fits into a row

LIMITS = ("--workspace-max-bytes", "0", "--workspace-max-files", "0")
LARGE = ("--max-file-bytes", "1GiB", "--max-request-bytes", "1GiB")

# Rows as the server writes them. Outside of the database only the rows are made: what is measured does not look at the
# bytes of others.
WAITING_ROWS = """
INSERT INTO pending_uploads (workspace_id, content, content_place, content_key, size_bytes, filename, sha256, created_at)
SELECT ('00000000-0000-4000-8000-' || lpad(to_hex(i % 1000), 12, '0'))::uuid, {content}, 96, 'f.bin', sha256(c),
       now() - i * interval '1 ms'
  FROM generate_series(1, {rows}) AS i, LATERAL (SELECT decode(repeat(md5(i::text), 6), 'hex') AS c) AS made
"""
IN_ROW = "c, 'inline', NULL"
OUTSIDE = "NULL, '{place}', '2026-01-01T00/' || gen_random_uuid()"


LEAST_REQUESTS = 3


def cpu(row):
    return row["server_cpu_us"] + row["postgres_cpu_us"]


def measure(bench, work, *flags):
    """Longer if too few requests were answered to say anything."""
    for longer in (1, 4, 16):
        row, = bench.run(work, *flags, seconds=bench.seconds * longer, show=False)
        if row["requests"] >= LEAST_REQUESTS:
            return row
    harness.fail(f"{work}: only {row['requests']} were answered in {bench.seconds * longer:.0f} s")


class Store:
    """A server for each series, so that none depends on another."""

    def __init__(self, name, flags, seconds, most_rows):
        self.name, self._flags, self._seconds, self._most_rows = name, flags, seconds, most_rows

    @contextlib.contextmanager
    def _bench(self, *flags):
        with running_server(*self._flags, *LIMITS, *flags) as server:
            yield Bench(server, self._seconds)

    def _report(self, what, count, value, unit, row):
        print(f"{self.name:10} {what:24} {count:>13,}  {readable(value):>9} {unit}   {readable(row['rate'])}/s, "
              f"p99 {readable(row['p99_us'] / 1000)} ms", flush=True)
        if row["errors"]:
            say(f"{row['errors']} errors: {row.get('first_error')}")
        return count, value

    def waiting(self):
        place = IN_ROW if self.name == "inline" else OUTSIDE.format(place=self.name)
        points = []
        with self._bench() as bench:
            measure(bench, "upload:10KiB")  # inserts into a new table are cheaper
            for rows in [rows for rows in WAITING if rows <= self._most_rows]:
                bench.server.delete_files()
                if rows:
                    bench.server.sql(WAITING_ROWS.format(rows=rows, content=place))
                bench.server.sql("VACUUM ANALYZE pending_uploads; CHECKPOINT")
                row = measure(bench, "upload:10KiB")
                points.append(self._report("waiting files", rows, cpu(row), "µs CPU", row))
        return points

    def workspaces(self):
        points = []
        with self._bench() as bench:
            for count in WORKSPACES:
                row = measure(bench, "upload:10KiB", "--workspaces", str(count))
                points.append(self._report("workspaces", count, cpu(row), "µs CPU", row))
                bench.server.delete_files()
        return points

    def files(self):
        """The cost of one file, not of the request."""
        points = []
        with self._bench() as bench:
            for count in FILES:
                row = measure(bench, f"upload:{count}x10KiB" if count > 1 else "upload:10KiB")
                points.append(self._report("files in a request", count, cpu(row) / count, "µs CPU", row))
                bench.server.delete_files()
        return points

    def sizes(self):
        """CPU for each MiB. Large files come from one client, whose requests are in its memory."""
        points = []
        largest = INLINE_MOST if self.name == "inline" else SIZES[-1]
        with self._bench(*(LARGE if self.name != "inline" else ())) as bench:
            for size in [size for size in SIZES if size <= largest]:
                few = str(max(1, min(32, (64 << 20) // size)))
                large = ["--warm-up", "0"] if size > 16 << 20 else []
                row = measure(bench, f"upload:{size}", "--connections", few, "--workspaces", few, "--timeout", "120",
                              *large)
                points.append(self._report("bytes of a file", size, cpu(row) / 1000 / (size / (1 << 20)), "ms CPU a MiB",
                                           row))
                bench.server.delete_files()
        return points


STORES = ("inline", "directory", "s3")
SERIES = {
    "waiting": ("An upload of 10 KiB", "files that wait", "µs of CPU"),
    "workspaces": ("An upload of 10 KiB", "workspaces that take turns", "µs of CPU"),
    "files": ("A file of 10 KiB", "files in a request", "µs of CPU"),
    "sizes": ("A MiB", "bytes of a file, from 256 KiB", "ms of CPU"),
}


@contextlib.contextmanager
def flags_of(name):
    if name == "inline":
        yield ("--content-store", "inline")
    elif name == "directory":
        yield ("--content-store", "directory", "--content-inline-max", "0")
    else:
        harness.require_programs({"radosgw": "radosgw", "ceph-mon": "ceph-mon", "ceph-osd": "ceph-osd"})
        with tempfile.TemporaryDirectory(prefix="restante-bench-") as folder, s3.Engine("ceph") as engine:
            yield engine.flags(pathlib.Path(folder) / "keys")


def draw(figures):
    """Below 256 KiB the cost of a file hides that of its bytes, and would flatten the rest of the chart."""
    panels = []
    for series, (title, things, unit) in SERIES.items():
        lines = {f["store"]: f["points"] for f in figures if f["series"] == series}
        if series == "sizes":
            lines = {name: [point for point in points if point[0] >= 256 << 10] for name, points in lines.items()}
        if lines:
            panels.append(chart.Panel(title, things, unit, [], lines, sizes=series == "sizes"))
    return chart.draw(panels)


def run(given):
    figures = []
    for name in given.stores.split(","):
        say(f"growth_stores: {name} …")
        with flags_of(name) as flags:
            store = Store(name, flags, given.seconds, given.most_rows)
            for series in given.series.split(","):
                points = getattr(store, series)()
                figures.append({"id": f"growth of {series}, {name}", "store": name, "series": series,
                                "unit": SERIES[series][2], "points": points})
    if {(f["store"], f["series"]) for f in figures} == {(s, k) for s in STORES for k in SERIES}:
        write_chart(figures)
    return figures


def write_chart(figures):
    path = ROOT / "docs/growth-stores.svg"
    path.write_text(draw(figures))
    print(f"drawn: {path.relative_to(ROOT)}")
