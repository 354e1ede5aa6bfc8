"""bench/run push: uploads that are passed on to a workspace by Restante, by nginx and by the peer in Go, in the
same run and to the same workspace."""

import contextlib
import os
import pathlib
import statistics
import subprocess
import tempfile

import contenders
import harness
import processes
from cluster import Cluster
from figures import readable
from harness import fail, say

SIZES = {"1 MiB": 1024 * 1024, "10 KiB": 10 * 1024}
ROUNDS = 3

NGINX = """
worker_processes {workers};
daemon off;
pid {folder}/pid;
error_log {folder}/errors;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    client_max_body_size 100m;
    upstream workspace {{ server 127.0.0.1:{sink}; keepalive 64; }}
    server {{
        listen 127.0.0.1:{port} reuseport;
        location / {{
            proxy_pass http://workspace;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_request_buffering off;
        }}
    }}
}}
"""


class Forwarder(contenders.HttpServer):
    """A server whose workspaces are called at the sink."""

    def __init__(self, name, cluster, seconds, folder, sink):
        super().__init__(name, cluster, seconds, folder, "activity_logs")
        self.callback = f"http://127.0.0.1:{sink}"


class Nginx(contenders.HttpServer):
    """It knows no workspaces: any path is passed on."""

    def start_with(self, sink):
        config = self._folder / "nginx.conf"
        config.write_text(NGINX.format(folder=self._folder, port=self.port, sink=sink, workers=os.cpu_count()))
        self.start(["nginx", "-c", config, "-e", self._folder / "errors"])

    def _register(self):
        return "any", "token"

    def _empty_tables(self):
        pass


@contextlib.contextmanager
def running_sink(folder):
    binary, port = contenders.BUILD / "sink", processes.free_port()
    contenders.build_go(harness.ROOT / "bench/sink/main.go", binary)
    with open(folder / "sink.log", "w") as log:
        process = subprocess.Popen([binary], env={**os.environ, "ADDR": f"127.0.0.1:{port}"}, stdout=log,
                                   stderr=subprocess.STDOUT, start_new_session=True)
    try:
        if not processes.wait_until_listening(process, port):
            fail("the sink did not start")
        yield port
    finally:
        processes.end(process)


@contextlib.contextmanager
def running_forwarders(seconds):
    with tempfile.TemporaryDirectory(prefix="restante-bench-") as name, Cluster() as cluster, \
            contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        sink = stack.enter_context(running_sink(folder))
        nginx = Nginx("nginx", cluster, seconds, folder, "")
        peer = Forwarder("peer", cluster, seconds, folder, sink)
        ours = Forwarder("ours", cluster, seconds, folder, sink)
        for each in (nginx, peer, ours):
            stack.callback(each.stop)
        nginx.start_with(sink)
        cluster.sql((harness.ROOT / "bench/peer/schema.sql").read_text(), "peer")
        peer.start([contenders.build_peer()], {"DATABASE_URL": cluster.conninfo("peer") + " sslmode=disable",
                                               "ADDR": f"127.0.0.1:{peer.port}"})
        ours.start([harness.SERVER, "serve", "--listen", f"127.0.0.1:{ours.port}", "--metrics-listen",
                    "127.0.0.1:0", "--database-url", cluster.conninfo("ours"), "--push-allow", "loopback",
                    "--log-level", "warn"])
        yield {"nginx": nginx, "peer": peer, "ours": ours}


def measure(forwarders, size):
    taken = {name: [] for name in forwarders}
    for _ in range(ROUNDS):
        for name, each in forwarders.items():
            taken[name].append(each.upload(size))
    return {name: {key: statistics.median(figures[key] for figures in rounds) for key in rounds[0]}
            for name, rounds in taken.items()}


def run(given):
    harness.require_programs({"nginx": "nginx-light", "go": "golang-go", "wrk": "wrk"})
    say("push: starting PostgreSQL, nginx, the peer and the server …")
    results = []
    with running_forwarders(int(given.seconds)) as forwarders:
        print(f"{'forward of':12} {'':6} {'rate/s':>9} {'p99, ms':>9} {'CPU, µs':>9} {'bad':>5}", flush=True)
        for name, size in SIZES.items():
            found = measure(forwarders, size)
            for who, figures in found.items():
                print(f"{name:12} {who:6} {readable(figures['rate']):>9} {figures['p99_ms']:9.1f} "
                      f"{figures['cpu_us']:9.0f} {figures['bad']:5.0f}", flush=True)
            rate = {who: figures["rate"] for who, figures in found.items()}
            print(f"{name:12} ours/nginx {rate['ours'] / rate['nginx']:.2f}, "
                  f"ours/peer {rate['ours'] / rate['peer']:.2f}", flush=True)
            results.append({"id": "push: " + name, **found})
    return results
