"""bench/run content: uploads and fetches for the three content stores in one run, each beside what can be had without a
server: a bare program that does the same to disk and PostgreSQL, plain write and fsync, nginx sending the same files,
and curl talking to the same S3 engine. Everything takes turns, so that all of it sees the same machine."""

import contextlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import urllib.request

import contenders
import first_byte
import harness
import processes
import s3
from figures import readable
from harness import Bench, fail, running_server, say

ROUNDS = 3
SIZES = s3.SIZES
CONNECTIONS = {"64KiB": 32, "1MiB": 32, "25MiB": 8}
STAGED = {"64KiB": 64, "1MiB": 32, "25MiB": 8}
CURL_COUNT = {"64KiB": 300, "1MiB": 150, "25MiB": 16}
UNLIMITED = ("--workspace-max-bytes", "0", "--workspace-max-files", "0")

# auth_request asks over HTTP, as it does in front of a real application; that one always says yes.
NGINX = """
worker_processes {workers}; daemon off; pid {folder}/pid; error_log {folder}/errors; user root;
events {{ worker_connections 1024; }}
http {{
    access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000;
    client_body_temp_path {folder}/1; proxy_temp_path {folder}/2; fastcgi_temp_path {folder}/3;
    uwsgi_temp_path {folder}/4; scgi_temp_path {folder}/5;
    upstream judge {{ server 127.0.0.1:{judge}; keepalive 64; }}
    server {{ listen 127.0.0.1:{judge} reuseport; location / {{ return 204; }} }}
    server {{
        listen 127.0.0.1:{port} reuseport; root {content};
        location = /judge {{ internal; proxy_pass http://judge; proxy_http_version 1.1; proxy_set_header Connection "";
                             proxy_pass_request_body off; proxy_set_header Content-Length ""; }}
        location / {{ auth_request /judge; }}
    }}
}}
"""

# Paths and tokens in turn. Without a function response(), wrk does not keep the bodies.
SCRIPT = """
local lines, at = {}, 0
for line in io.lines("%s") do
    local path, token = line:match("(%%S+) (%%S+)")
    lines[#lines + 1] = wrk.format("GET", path, {Authorization = "Bearer " .. token, Host = "localhost"})
end
function request() at = at %% #lines + 1; return lines[at] end
"""


def build_writer():
    contenders.BUILD.mkdir(parents=True, exist_ok=True)
    binary = contenders.BUILD / "writer"
    subprocess.run(["clang++-19", "-O2", "-std=c++20", "-I/usr/include/postgresql", "-o", binary,
                    harness.ROOT / "bench/writer/writer.cpp", "-lpq"], check=True)
    return binary


def upload_file(server, workspace, token, size):
    body = (b'--b\r\nContent-Disposition: form-data; name="files"; filename="f.bin"\r\n\r\n' + os.urandom(size)
            + b"\r\n--b--\r\n")
    request = urllib.request.Request(f"http://{server.http}/workspaces/{workspace}/chat/uploads", body, {
        "Authorization": f"Bearer {token}", "Content-Type": "multipart/form-data; boundary=b"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)["files"][0]["file_id"]


@contextlib.contextmanager
def running_nginx(folder, content):
    port, judge = processes.free_port(), processes.free_port()
    configuration = folder / "nginx.conf"
    configuration.write_text(NGINX.format(folder=folder, workers=os.cpu_count(), port=port, judge=judge, content=content))
    process = subprocess.Popen(["nginx", "-e", folder / "errors", "-c", configuration])
    try:
        if not processes.wait_until_listening(process, port):
            fail(f"nginx does not listen: {(folder / 'errors').read_text()}")
        yield f"127.0.0.1:{port}", process
    finally:
        processes.end(process)


class Run:
    """One size: servers with each store, and what they are measured beside."""

    def __init__(self, given, label, folder, servers, engine):
        # A few seconds are few uploads of 25 MiB.
        self.seconds = given.seconds * (2 if label == "25MiB" else 1)
        self.label, self.size = label, SIZES[label]
        self.folder, self.servers, self.engine = folder, servers, engine
        self.benches = {name: Bench(server, self.seconds) for name, server in servers.items()}
        self.found = {}  # contender: figures of each round

    def note(self, name, **figures):
        self.found.setdefault(name, []).append(figures)

    # Uploads.

    def uploads(self):
        connections = CONNECTIONS[self.label]
        writer = build_writer()
        for turn in range(ROUNDS):
            for name, bench in self.benches.items():
                say(f"upload {self.label}, {name}, round {turn + 1} …")
                its = s3.CONNECTIONS if name == "s3" else connections
                row = bench.run(f"upload:{self.label}", "--connections", str(its), "--warm-up", "0.5", show=False)[0]
                if row["errors"] or not row["requests"]:
                    fail(f"{row['errors']} uploads failed, {row['requests']} did not")
                self.note(name, rate=row["rate"], cpu=row["server_cpu_us"] + row["postgres_cpu_us"],
                          client=row["client_cpu_us"], peak=row["server_peak_bytes"] / (1 << 20))
                self.benches[name].server.delete_files()
                self.end_turn(self.servers[name].data / "content")
            for how in ("stored", "synced") if "directory" in self.servers else ():
                say(f"upload {self.label}, {how}, round {turn + 1} …")
                target = self.folder / f"{how}-{turn}"
                target.mkdir()
                self.write(writer, how, connections, target)
                self.end_turn(target)
            if self.engine:
                self.note("curl", rate=s3.bare_rate(self.engine, self.folder, self.size, CURL_COUNT[self.label], True))

    def write(self, writer, how, connections, target):
        """One round of the bare program. What it costs is its own CPU and that of its PostgreSQL."""
        server = self.servers["directory"]
        before = processes.tree_cpu_seconds(server.postmaster)
        command = [writer, server.conninfo, how, str(self.size), str(connections), str(self.seconds), target]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        postgres = processes.tree_cpu_seconds(server.postmaster) - before
        rate, count, own = (float(number) for number in out.split())
        self.note(how, rate=rate, cpu=own + postgres / max(1, count) * 1e6)

    def end_turn(self, written):
        """No dirty pages for the next one. Small files stay until all have had their turns: ext4 without a journal passes
        over every inode that was freed in the last minutes, one by one, when it makes a file, which took a third of a
        server's CPU after 10,000 removals."""
        if self.size > SIZES["1MiB"]:
            for file in written.rglob("*"):
                if file.is_file():
                    file.unlink()
        os.sync()

    # Fetches.

    def stage(self, server, name):
        """Files to fetch. Returns a script for wrk that asks for them in turn, and their keys."""
        lines = []
        for _ in range(STAGED[self.label]):
            workspace, token = server.register()
            file = upload_file(server, workspace, token, self.size)
            lines.append(f"/workspaces/{workspace}/pending-uploads/{file}/content {token}")
        return self.script(name, lines), server.sql("SELECT content_key FROM pending_uploads").split()

    def script(self, name, lines):
        requests, script = self.folder / f"{name}.requests", self.folder / f"{name}.lua"
        requests.write_text("".join(line + "\n" for line in lines))
        script.write_text(SCRIPT % requests)
        return script

    def wrk(self, name, address, script, pids):
        say(f"fetch {self.label}, {name} …")
        its = s3.CONNECTIONS if name == "s3" else CONNECTIONS[self.label]
        before, began = sum(processes.tree_cpu_seconds(pid) for pid in pids), os.times()
        out = subprocess.run(["wrk", "-t1", f"-c{its}", f"-d{self.seconds:g}s", "--timeout", "20s", "-s", script,
                              f"http://{address}/"], check=True, capture_output=True, text=True).stdout
        used, ended = sum(processes.tree_cpu_seconds(pid) for pid in pids) - before, os.times()
        client = ended.children_user + ended.children_system - began.children_user - began.children_system
        if "Non-2xx" in out or "Socket errors" in out:
            fail(f"some fetches failed:\n{out}")
        count = int(re.search(r"(\d+) requests in", out)[1])
        self.note(name, rate=float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1]), cpu=used / max(1, count) * 1e6,
                  client=client / max(1, count) * 1e6, peak=processes.peak_mib(pids[0]))

    def fetches(self):
        scripts = {}
        for name, server in self.servers.items():
            scripts[name], keys = self.stage(server, name)
            if name == "directory":
                lines = [f"/{key} none" for key in keys]
        if self.engine:  # what curl fetches
            s3.bare_rate(self.engine, self.folder, self.size, CURL_COUNT[self.label], True)
        with contextlib.ExitStack() as stack:
            if "directory" in self.servers:
                content = self.servers["directory"].data / "content"
                address, nginx = stack.enter_context(running_nginx(self.folder, content))
                nginx_script = self.script("nginx", lines)
            for _ in range(ROUNDS):
                for name, server in self.servers.items():
                    self.wrk(name, server.http, scripts[name], [server.process.pid, server.postmaster])
                if "directory" in self.servers:
                    self.wrk("nginx", address, nginx_script, [nginx.pid])
                if self.engine:
                    rate = s3.bare_rate(self.engine, self.folder, self.size, CURL_COUNT[self.label], False)
                    self.note("curl", rate=rate)

    # Results.

    def medians(self):
        return {name: {key: statistics.median(each[key] for each in rounds) for key in rounds[0]}
                for name, rounds in self.found.items()}


NAMES = {"inline": "inline", "directory": "directory", "s3": "s3", "stored": "bare program: write, sync, link, commit",
         "synced": "write and fsync only", "nginx": "nginx, sendfile and auth_request", "curl": "curl to the S3 engine"}


def show(work, label, found):
    heads = ["rate/s", "MB/s", "CPU, µs", "client's", "peak, MiB"]
    print(f"\n{work + ' ' + label:42}" + "".join(f"{head:>11}" for head in heads), flush=True)
    for name, each in found.items():
        cells = [readable(each["rate"]), readable(each["rate"] * SIZES[label] / 1e6)]
        cells += [readable(each[key]) if key in each else "–" for key in ("cpu", "client", "peak")]
        print(f"{NAMES[name]:42}" + "".join(f"{cell:>11}" for cell in cells), flush=True)


@contextlib.contextmanager
def running_stores(folder, names):
    """A server for each store, and the engine of the last. inline-max 0: each file goes where its store is."""
    with contextlib.ExitStack() as stack:
        servers, engine = {}, None
        if "inline" in names:
            servers["inline"] = stack.enter_context(running_server("--content-store", "inline", *UNLIMITED))
        if "directory" in names:
            servers["directory"] = stack.enter_context(
                running_server("--content-store", "directory", "--content-inline-max", "0", *UNLIMITED))
        if "s3" in names:
            engine = stack.enter_context(s3.Engine("ceph"))
            servers["s3"] = stack.enter_context(running_server(*engine.flags(folder / "keys"), *UNLIMITED))
        yield servers, engine


def measure_rates(given, work, label):
    say(f"content: starting servers for {work} of {label} …")
    with tempfile.TemporaryDirectory(prefix="restante-bench-", dir="/tmp") as name:
        folder = pathlib.Path(name)
        with running_stores(folder, given.stores.split(",")) as (servers, engine):
            each = Run(given, label, folder, servers, engine)
            each.uploads() if work == "upload" else each.fetches()
            found = each.medians()
    show(work, label, found)
    return {"id": f"content: {work} {label}", "found": found}


def measure_first_bytes(given):
    """The wait for the first byte of 1 MiB and of 25 MiB, for each store."""
    say("content: starting servers for the first byte …")
    found = {}
    with tempfile.TemporaryDirectory(prefix="restante-bench-", dir="/tmp") as name:
        with running_stores(pathlib.Path(name), given.stores.split(",")) as (servers, _):
            for store, server in servers.items():
                workspace, token = server.register()
                files = {}
                for label in ("1MiB", "25MiB"):
                    file = upload_file(server, workspace, token, SIZES[label])
                    files[label] = (f"/workspaces/{workspace}/pending-uploads/{file}/content", token)
                found[store] = first_byte.medians(server.http, files)
    print(f"\n{'first byte after, ms':42}{'1 MiB':>10}{'25 MiB':>10}{'ratio':>10}", flush=True)
    for store, each in found.items():
        small, large = each["1MiB"], each["25MiB"]
        print(f"{store:42}{readable(small):>10}{readable(large):>10}{readable(large / small):>10}", flush=True)
    return {"id": "content: first byte", "found": found}


def run(given):
    programs = {"curl": "curl", "wrk": "wrk", "nginx": "nginx-light"}
    if "s3" in given.stores.split(","):
        programs |= {"radosgw": "radosgw", "ceph-mon": "ceph-mon", "ceph-osd": "ceph-osd"}
    harness.require_programs(programs)
    figures = []
    for work in given.part.split(","):
        if work == "first":
            figures.append(measure_first_bytes(given))
        else:
            figures += [measure_rates(given, work, label) for label in given.sizes.split(",")]
    return figures
