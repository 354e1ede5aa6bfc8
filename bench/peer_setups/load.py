"""Sends a Load with wrk, the same tool for every peer."""

import os
import pathlib
import re
import subprocess

import contenders

from .bystanders import Bystanders
from .peer import NotPossible
from .process_tree import cpu_seconds

SCRIPT = pathlib.Path(__file__).resolve().parent / "load.lua"
CONNECTIONS = 32


def read_wrk(out):
    figures = contenders.read_wrk(out)
    p50 = re.search(r"50%\s+([\d.]+)(us|ms|s|m)", out)
    figures["p50_ms"] = float(p50[1]) * {"us": 1e-3, "ms": 1, "s": 1e3, "m": 6e4}[p50[2]] if p50 else 0
    broken = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", out)
    figures["bad"] += sum(int(count) for count in broken.groups()) if broken else 0
    return figures


def run(load, peer, size, seconds):
    """Rate of uploads or fetches, latency of their requests, and CPU of each: the server's and its database's."""
    requests = peer.folder / "requests"
    requests.write_text("".join(line + "\n" for line in load.lines))
    settings = {"REQUESTS": str(requests), "BODY": load.body, "SIZE": str(size)}
    settings.update({name: "1" for name, wanted in (("ONCE", load.once), ("PATCH", load.patch)) if wanted})
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--timeout=20s", "--latency", "-s", str(SCRIPT),
               f"http://127.0.0.1:{load.port}"]
    before, bystanders = cpu_seconds(peer.roots()), Bystanders(peer)
    done = subprocess.run(command, env={**os.environ, **settings}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=seconds + 60)
    used, others = cpu_seconds(peer.roots()) - before, bystanders.share()
    if done.returncode or "too few requests" in done.stdout or "Requests/sec:" not in done.stdout:
        raise NotPossible("wrk failed: " + " ".join(done.stdout[-300:].split()))
    figures = read_wrk(done.stdout)
    if figures["bad"] > figures["done"] / 100:
        raise NotPossible(f"{figures['bad']} requests failed, {figures['done']} did not")
    for_one = 2 if load.patch else 1
    items = figures["done"] / for_one
    return {"rate": figures["rate"] / for_one, "p50_ms": figures["p50_ms"], "p99_ms": figures["p99_ms"],
            "cpu_us": used / max(items, 1) * 1e6, "requests": figures["done"], "bad": figures["bad"], "others": others}
