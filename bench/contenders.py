"""The three that bench/compare measures: bare libpq (the ceiling), the peer in Go, and Restante.

Each has the same four methods, one for each kind of work. They return figures, or None where the contender
cannot do that work.
"""

import http.client
import json
import os
import pathlib
import re
import subprocess
import uuid

import processes
from harness import ROOT, fail

SCRIPT = ROOT / "bench/compare.lua"
BUILD = ROOT / "build/bench"

CONNECTIONS = 32  # of wrk
CEILING_CONNECTIONS = 8
WORKSPACES = 16
FILES_PER_WORKSPACE = 4  # staged before fetches
ROWS_PER_POLL = 10

BURST_BYTES, BURST_CONNECTIONS, BURST_SECONDS = 26_000_000, 64, 25


def build_go(source, binary):
    BUILD.mkdir(parents=True, exist_ok=True)
    # Debian's Go libraries are plain sources below /usr/share/gocode, for builds without modules.
    settings = {"GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOCACHE": str(BUILD / "go-cache")}
    subprocess.run(["go", "build", "-o", binary, source], check=True, env={**os.environ, **settings})
    return binary


def build_peer():
    return build_go(ROOT / "bench/peer/main.go", BUILD / "peer")


def build_ceiling():
    BUILD.mkdir(parents=True, exist_ok=True)
    subprocess.run(["clang++-19", "-O2", "-std=c++20", "-I/usr/include/postgresql", "-o", BUILD / "ceiling",
                    ROOT / "bench/ceiling/ceiling.cpp", "-lpq"], check=True)
    return BUILD / "ceiling"


class Ceiling:
    """Bare libpq, which uploads and fetches without HTTP."""

    def __init__(self, binary, cluster, seconds):
        self._binary, self._cluster, self._seconds = binary, cluster, seconds
        cluster.sql("CREATE DATABASE ceiling")

    def _run(self, work, size):
        command = [self._binary, self._cluster.conninfo("ceiling"), work, str(size), str(CEILING_CONNECTIONS),
                   str(self._seconds)]
        out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        self._cluster.sql("CHECKPOINT")
        return {"rate": float(out.split()[0])}

    def upload(self, size, files=1):
        return self._run("upload", size) if files == 1 else None

    def fetch(self, size):
        return self._run("fetch", size)

    def poll(self):
        return None

    def burst(self):
        return None


def read_wrk(text):
    """Figures from what wrk prints."""
    found = lambda pattern: re.search(pattern, text)
    if not found("Requests/sec:"):
        fail("wrk printed no rate:\n" + text)
    bad, p99 = found(r"Non-2xx or 3xx responses: (\d+)"), found(r"99%\s+([\d.]+)(us|ms|s|m)")
    in_ms = {"us": 1e-3, "ms": 1, "s": 1e3, "m": 6e4}
    return {
        "rate": float(found(r"Requests/sec:\s+([\d.]+)")[1]),
        "p99_ms": float(p99[1]) * in_ms[p99[2]] if p99 else 0,
        "done": int(found(r"(\d+) requests in")[1]),
        "bad": int(bad[1]) if bad else 0,
    }


class HttpServer:
    """A server process on a database of its own, loaded with wrk."""

    callback = None  # where its workspaces are called; None if they poll

    def __init__(self, name, cluster, seconds, folder, tables):
        self.name, self._cluster, self._seconds = name, cluster, seconds
        self._folder, self._tables = pathlib.Path(folder), tables
        self.port = processes.free_port()
        self._process = None
        cluster.sql(f"CREATE DATABASE {name}")

    def start(self, command, env=None):
        log = self._folder / f"{self.name}.log"
        with log.open("w") as out:
            self._process = subprocess.Popen(command, env={**os.environ, **(env or {})}, stdout=out,
                                             stderr=subprocess.STDOUT, start_new_session=True)
        if not processes.wait_until_listening(self._process, self.port):
            fail(f"{self.name} did not start:\n" + log.read_text()[-2000:])
        self._workspaces = [self._register() for _ in range(WORKSPACES)]

    def stop(self):
        if self._process is not None:
            processes.end(self._process)

    def peak_mib(self):
        return processes.peak_mib(self._process.pid)

    def _call(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        data = response.read()
        connection.close()
        if response.status != 200:
            fail(f"{self.name}: {method} {path} returned {response.status} {data[:300]}")
        return json.loads(data)

    def _register(self):
        workspace = str(uuid.uuid4())
        how = {"delivery_mode": "push", "url": self.callback} if self.callback else {"delivery_mode": "poll"}
        body = json.dumps({"id": workspace, "agent_card": {"name": "bench"}, **how})
        reply = self._call("POST", "/registry/register", body, {"Content-Type": "application/json"})
        return workspace, reply["auth_token"]

    def _stage(self, workspace, token, size):
        """Uploads one file and returns its id."""
        form = (b'--b\r\nContent-Disposition: form-data; name="files"; filename="a.bin"\r\n'
                b"Content-Type: application/octet-stream\r\n\r\n" + os.urandom(size) + b"\r\n--b--\r\n")
        headers = {"Authorization": "Bearer " + token, "Content-Type": "multipart/form-data; boundary=b"}
        reply = self._call("POST", f"/workspaces/{workspace}/chat/uploads", form, headers)
        return reply["files"][0]["uri"].split("/")[-1]

    def _stage_poll(self, workspace, token):
        """Writes one activity row more than a poll returns. Returns the oldest, which is the cursor."""
        for _ in range(ROWS_PER_POLL + 1):
            self._stage(workspace, token, 100)
        newest_first = self._call("GET", f"/workspaces/{workspace}/activity?limit={ROWS_PER_POLL + 1}",
                                  headers={"Authorization": "Bearer " + token})
        return newest_first[ROWS_PER_POLL]["id"]

    def _load(self, kind, targets, connections=CONNECTIONS, seconds=None, timeout=30, **env):
        """Runs wrk with bench/compare.lua, then empties the tables."""
        seconds = seconds or self._seconds
        path = self._folder / "targets"
        path.write_text("".join(" ".join(target) + "\n" for target in targets))
        command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", f"--timeout={timeout}s", "--latency",
                   "-s", SCRIPT, f"http://127.0.0.1:{self.port}"]
        before = processes.tree_cpu_seconds(self._process.pid)
        out = subprocess.run(command, env={**os.environ, "KIND": kind, "TARGETS": str(path), **env},
                             stdout=subprocess.PIPE, text=True).stdout
        used = processes.tree_cpu_seconds(self._process.pid) - before
        figures = read_wrk(out)
        figures["cpu_us"] = used / figures["done"] * 1e6 if figures["done"] else 0
        self._empty_tables()
        return figures

    def _empty_tables(self):
        self._cluster.sql(f"TRUNCATE {self._tables}; CHECKPOINT", self.name)

    def upload(self, size, files=1):
        return self._load("upload", self._workspaces, SIZE=str(size), FILES=str(files))

    def fetch(self, size):
        targets = [(workspace, token, self._stage(workspace, token, size))
                   for workspace, token in self._workspaces for _ in range(FILES_PER_WORKSPACE)]
        return self._load("fetch", targets)

    def poll(self):
        targets = [(workspace, token, self._stage_poll(workspace, token))
                   for workspace, token in self._workspaces]
        return self._load("poll", targets)

    def burst(self):
        figures = self._load("upload", self._workspaces, BURST_CONNECTIONS, BURST_SECONDS, timeout=90,
                             SIZE=str(BURST_BYTES), FILES="1")
        figures["rate"] = figures["done"] / BURST_SECONDS
        figures["peak_mib"] = self.peak_mib()
        return figures
