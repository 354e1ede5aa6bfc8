"""Writes figures into docs/performance.md, each table between a pair of comments: bench/run --page."""

import re

from figures import readable
from harness import ROOT

PAGE = ROOT / "docs/performance.md"
MIB = 1024 * 1024


def number(value):
    return "–" if value is None else readable(value)


def table(head, rows):
    """The first column is text, the others are numbers."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "--:|" * (len(head) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def measured(figures, *works):
    return [f for f in figures if f["id"].split(":")[0].split()[0] in works and "rate" in f]


def latencies(f):
    return [number(f[name] / 1000) for name in ("p50_us", "p99_us", "p999_us")]


def load_row(f):
    name = f["work"] + (", TLS" if f["id"].endswith(" tls") and "TLS" not in f["work"] else "")
    cpu = [number(f.get(whose + "_cpu_us")) for whose in ("server", "postgres", "client")]
    return [name, f"{f['connections']:,}", number(f["rate"]), *latencies(f), *cpu,
            number(f["server_peak_bytes"] / MIB), f"{f['errors']:,}"]


LOAD_HEAD = ["work", "connections", "rate/s", "p50, ms", "p99, ms", "p99.9, ms", "CPU server, µs", "postgres",
             "client", "peak, MiB", "errors"]


def has_all(figures, *ids):
    return {figure["id"] for figure in figures}.issuperset(ids)


def requests_table(figures):
    rows = [f for f in measured(figures, "upload", "fetch", "poll", "mixed")
            if (f["id"], f["connections"]) != ("upload:10KiB", 64)]  # those of onset
    complete = has_all(rows, "upload:10KiB", "fetch:10KiB", "poll:10", "mixed", "poll:10 tls",
                       "upload:26000000")
    return complete and table(LOAD_HEAD, [load_row(f) for f in rows])


def deliver_table(figures):
    rows = measured(figures, "deliver")
    return rows and table(LOAD_HEAD, [load_row(f) for f in rows])


def held_table(figures):
    """Connections that wait: the memory of each, and how long it takes to wake them."""
    rows = []
    for f in measured(figures, "parked", "idle"):
        memory = next((value for key, value in f.items() if key.startswith("server memory for each")), None)
        woken = latencies(f) if f["id"].startswith("parked") else ["–"] * 3
        rows.append([f["work"], number(memory), *woken, number(f["server_peak_bytes"] / MIB),
                     f"{f['errors']:,}"])
    head = ["connections", "memory of each, KiB", "woken after p50, ms", "p99, ms", "p99.9, ms",
            "server's peak, MiB", "errors"]
    return has_all(figures, "parked:10000 tls", "idle:10000 tls") and table(head, rows)


def growth_table(figures):
    panels = [f for f in figures if f["id"].startswith("growth: ")]
    rows = [[f["id"].removeprefix("growth: "), f["unit"],
             " · ".join(f"{number(cost)} at {count:,}" for count, cost in f["points"])] for f in panels]
    return rows and table(["cost of one", "in", "at how many"], rows)


def growth_stores_table(figures):
    panels = [f for f in figures if f["id"].startswith("growth of ")]
    size = lambda count: f"{count >> 20:,} MiB" if count >= MIB else f"{count >> 10} KiB"
    at = lambda f, count: size(count) if f["series"] == "sizes" else f"{count:,}"
    rows = [[f["id"].removeprefix("growth of "), f["unit"],
             " · ".join(f"{number(cost)} at {at(f, count)}" for count, cost in f["points"])] for f in panels]
    return len(rows) == 12 and table(["growth of what, store", "cost in", "at how many"], rows)


def sweep_table(figures):
    rows = [[f["id"].removeprefix("sweep: "), number(f["uploads_per_s"]), number(f["p50_ms"]),
             number(f["p99_ms"]), number(f.get("swept_per_s")), str(f.get("cycles", "–"))]
            for f in figures if f["id"].startswith("sweep: ")]
    return rows and table(["", "uploads/s", "p50, ms", "p99, ms", "swept/s", "cycles"], rows)


def pull_table(figures):
    rows = []
    for f in figures:
        if f["id"].startswith("pull: "):
            work, name = f["id"].removeprefix("pull: ").rsplit(", ", 1)
            rows.append([f"{work}, {name}", number(f["rate"]), number(f["bytes_per_second"] / 1e6)])
    return rows and table(["", "files/s", "MB/s"], rows)


def content_table(work):
    """One line for each size and contender. The ratio is that of the directory to the others."""
    names = {"inline": "inline", "directory": "directory", "s3": "S3", "stored": "bare program", "synced": "write, fsync",
             "nginx": "nginx", "curl": "curl to the S3 engine"}

    def make(figures):
        sizes = {}  # stores that were measured one by one are put together
        for f in figures:
            if f["id"].startswith(f"content: {work} "):
                sizes.setdefault(f["id"].split()[-1], {}).update(f["found"])
        rows = []
        for size, found in sizes.items():
            for name, each in sorted(found.items(), key=lambda item: list(names).index(item[0])):
                ours = found.get("s3" if name == "curl" else "directory")
                ratio = "–" if not ours or name in ("directory", "s3") else f"{ours['rate'] / each['rate']:.2f}"
                rows.append([f"{size}, {names[name]}", number(each["rate"]), number(each.get("cpu")),
                             number(each.get("client")), number(each.get("peak")), ratio])
        head = [work, "rate/s", "CPU with postgres, µs", "client", "server's peak, MiB", "ours / this"]
        return len(sizes) == 3 and table(head, rows)
    return make


def first_byte_table(figures):
    rows = [[store, number(each["1MiB"]), number(each["25MiB"]), f"{each['25MiB'] / each['1MiB']:.2f}"]
            for f in figures if f["id"] == "content: first byte" for store, each in f["found"].items()]
    return len(rows) == 3 and table(["first byte after, ms", "1 MiB", "25 MiB", "25 MiB / 1 MiB"], rows)


def quotas_table(figures):
    rows = [[f["id"].removeprefix("quotas: "), number(f["rate"]), number(f["server_cpu_us"]),
             number(f["postgres_cpu_us"]), f"{f['ratio']:.3f}"] for f in figures if f["id"].startswith("quotas: ")]
    return len(rows) == 3 and table(["", "uploads/s", "CPU server, µs", "postgres", "with quotas / this"], rows)


def heartbeats_table(figures):
    """Each fact of the run on a line of its own."""
    rows = [[name, number(value)] for f in figures if f["id"].startswith("heartbeats:")
            for name, value in f.items() if name.endswith("% of a core") or name.startswith("rows written")]
    return rows and table(["10,000 agents, a heartbeat every 30 s", ""], rows)


def push_table(figures):
    names = {"ours": "Restante", "nginx": "nginx", "peer": "the peer in Go"}
    rows = []
    for f in figures:
        if not f["id"].startswith("push: "):
            continue
        for who, name in names.items():
            found = f[who]
            ratio = "" if who == "ours" else f"{f['ours']['rate'] / found['rate']:.2f}"
            rows.append([f"{f['id'].removeprefix('push: ')}, {name}", number(found["rate"]), number(found["p99_ms"]),
                         number(found["cpu_us"]), ratio])
    return rows and table(["forwards of", "rate/s", "p99, ms", "CPU, µs", "Restante / this"], rows)


def side_by_side(figures, prefix, key, show, least):
    """One column for each workload and one line for each name, the most expensive first."""
    columns = [f for f in figures if f["id"].startswith(prefix)]
    total = lambda name: sum(f[key].get(name, 0) for f in columns)
    names = sorted({name for f in columns for name in f[key]}, key=total, reverse=True)
    rows = [[name, *(show.format(f[key].get(name, 0)) for f in columns)] for name in names
            if max(f[key].get(name, 0) for f in columns) >= least]
    return columns and table(["", *(f["id"].removeprefix(prefix) for f in columns)], rows)


SECTIONS = {
    "requests": requests_table,
    "deliver": deliver_table,
    "held": held_table,
    "heartbeats": heartbeats_table,
    "push": push_table,
    "pull": pull_table,
    "quotas": quotas_table,
    "content uploads": content_table("upload"),
    "content fetches": content_table("fetch"),
    "content first bytes": first_byte_table,
    "growth": growth_table,
    "growth_stores": growth_stores_table,
    "sweep": sweep_table,
    "stages": lambda figures: side_by_side(figures, "profile ", "stages", "{:.0%}", least=0.01),
    "postgres": lambda figures: side_by_side(figures, "postgres ", "parts", "{:.0%}", least=0),
    "calls": lambda figures: side_by_side(figures, "system calls ", "calls", "{:.2f}", least=0.05),
}


def fill(figures):
    """Replaces every table whose lines were all measured. The others stay as they are."""
    text = PAGE.read_text()
    for name, make in SECTIONS.items():
        made = make(figures)
        if made:
            pattern = rf"(<!-- {name}: made by bench/run -->\n).*?(<!-- end of {name} -->)"
            text = re.sub(pattern, lambda found: f"{found[1]}{made}\n{found[2]}", text, flags=re.S)
    PAGE.write_text(text)
