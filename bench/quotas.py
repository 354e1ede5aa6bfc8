"""bench/run quotas: what quotas cost an upload of 10 KiB. Servers with quotas, without limits and, with --against
BINARY, of another version run side by side, each with a PostgreSQL of its own, and are loaded in turn: a machine that
is slower for a while is so for all of them."""

import contextlib
import os
import statistics

import harness
from figures import readable
from harness import Bench, running_server, say

WORK = "upload:10KiB"
ROUNDS = 7
NO_LIMITS = ("--workspace-max-bytes", "0", "--workspace-max-files", "0")


def contenders(given):
    """{name: (flags, binary)}; the first is what the others are compared with."""
    found = {"with quotas": ((), harness.SERVER), "without limits": (NO_LIMITS, harness.SERVER)}
    if given.against:
        if not os.access(given.against, os.X_OK):
            harness.fail(f"{given.against} is no program")
        found["other version"] = ((), given.against)
    return found


def measure(servers, seconds):
    """{name: [one row of figures a round]}; each round begins with another server."""
    rows = {name: [] for name in servers}
    names = list(servers)
    for turn in range(ROUNDS):
        for name in names[turn % len(names):] + names[:turn % len(names)]:
            say(f"round {turn + 1} of {ROUNDS}, {name} …")
            rows[name] += Bench(servers[name], seconds).run(WORK, show=False)
            servers[name].delete_files()
    return rows


def run(given):
    with contextlib.ExitStack() as stack:
        servers = {name: stack.enter_context(running_server(*flags, binary=binary))
                   for name, (flags, binary) in contenders(given).items()}
        rows = measure(servers, given.seconds)
    ours = rows["with quotas"]
    print(f"\n{WORK + ', ' + str(ROUNDS) + ' rounds':24} {'rate/s':>9} {'server, µs':>11} {'postgres, µs':>13}"
          f" {'with quotas / this':>19}", flush=True)
    figures = []
    for name, all_rounds in rows.items():
        rate, server, postgres = (statistics.median(row[key] for row in all_rounds)
                                  for key in ("rate", "server_cpu_us", "postgres_cpu_us"))
        # Of two runs that follow each other, so that what the machine does meanwhile cancels out.
        ratio = statistics.median(mine["rate"] / other["rate"] for mine, other in zip(ours, all_rounds))
        print(f"{name:24} {readable(rate):>9} {readable(server):>11} {readable(postgres):>13} {ratio:>19.3f}", flush=True)
        figures.append({"id": f"quotas: {name}", "rate": rate, "ratio": ratio, "server_cpu_us": server,
                        "postgres_cpu_us": postgres, "errors": sum(row["errors"] for row in all_rounds)})
    return figures
