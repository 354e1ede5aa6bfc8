"""bench/run s3: uploads and fetches with files in an S3 engine, beside curl doing the same to the engine itself, in the
same run. The engine is the one that ./check uses, on the same machine: what counts is the ratio."""

import hashlib
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import harness
from figures import readable
from harness import Bench, running_server, say

SIZES = {"64KiB": 64 * 1024, "1MiB": 1024 * 1024, "25MiB": 25 * 1024 * 1024}
ROUNDS = 3
CONNECTIONS = 8
SCRIPT = harness.ROOT / "test/support/s3_engine"


class Engine:
    def __init__(self, name):
        self.folder = pathlib.Path(tempfile.mktemp(prefix="restante-bench-s3-", dir="/tmp"))
        try:
            subprocess.run([SCRIPT, "start", name, self.folder], check=True, stdout=subprocess.DEVNULL)
        except BaseException:  # half of it may be running
            self.stop()
            raise
        lines = (self.folder / "env").read_text().splitlines()
        self.told = dict(line.split("=", 1) for line in lines)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        subprocess.run([SCRIPT, "stop", self.folder], check=False, start_new_session=True)

    def flags(self, keys):
        keys.write_text(f"access_key = {self.told['S3_ACCESS_KEY']}\nsecret_key = {self.told['S3_SECRET_KEY']}\n")
        keys.chmod(0o600)
        return ("--content-store", "s3", "--content-inline-max", "0", "--s3-endpoint", self.told["S3_ENDPOINT"],
                "--s3-bucket", self.told["S3_BUCKET"], "--s3-prefix", "bench", "--s3-credentials-file", keys)

    def object_url(self, name):
        key = self.told["S3_ACCESS_KEY"].replace(":", "%3A")
        endpoint = self.told["S3_ENDPOINT"].replace("http://", f"http://{key}:{self.told['S3_SECRET_KEY']}@")
        return f"{endpoint}/{self.told['S3_BUCKET']}/bare/{name}"


def curl_config(engine, folder, count, size, upload):
    """One file or object for all of them would be kinder to the engine than a server is: each has its own."""
    data = folder / "data"
    if not data.exists() or data.stat().st_size != size:
        data.write_bytes(os.urandom(size))
    digest = hashlib.sha256(data.read_bytes()).hexdigest() if upload else hashlib.sha256().hexdigest()
    lines = []
    for i in range(count):
        lines += [f'url = "{engine.object_url(f"{size}-{i}")}"', 'aws-sigv4 = "aws:amz:us-east-1:s3"', "fail", "silent",
                  f'header = "x-amz-content-sha256: {digest}"', 'output = "/dev/null"',
                  *([f'upload-file = "{data}"'] if upload else []), "next"]
    return "\n".join(lines[:-1]) + "\n"


def bare_rate(engine, folder, size, count, upload):
    """Requests a second of curl with as many connections as the server's clients have."""
    config = folder / "curl"
    config.write_text(curl_config(engine, folder, count, size, upload))
    began = time.monotonic()
    subprocess.run(["curl", "--no-progress-meter", "--parallel", "--parallel-immediate", "--parallel-max",
                    str(CONNECTIONS), "--config", config], check=True, timeout=600)
    return count / (time.monotonic() - began)


def measure(engine, bench, folder, name, size, work):
    """Medians of rounds in turn: through the server, and without it."""
    served, bare = [], []
    count = {"64KiB": 400, "1MiB": 200, "25MiB": 24}[name]
    for _ in range(ROUNDS):
        row = bench.run(f"{work}:{name}", "--connections", str(CONNECTIONS), show=False)[0]
        served.append(row["rate"])
        bare.append(bare_rate(engine, folder, size, count, work == "upload"))
    return statistics.median(served), statistics.median(bare)


def run(given, engine_name="ceph"):
    harness.require_programs({"curl": "curl", "radosgw": "radosgw", "ceph-mon": "ceph-mon", "ceph-osd": "ceph-osd"})
    figures = []
    say(f"s3: starting {engine_name} and a server …")
    with tempfile.TemporaryDirectory(prefix="restante-bench-") as name, Engine(engine_name) as engine:
        folder = pathlib.Path(name)
        with running_server(*engine.flags(folder / "keys"), "--workspace-max-bytes", "0", "--workspace-max-files",
                            "0") as server:
            bench = Bench(server, given.seconds)
            print(f"{'':14}{'Restante':>12}{'curl':>12}{'ratio':>8}", flush=True)
            for label, size in SIZES.items():
                for work in ("upload", "fetch"):
                    served, bare = measure(engine, bench, folder, label, size, work)
                    print(f"{work + ' ' + label:14}{readable(served):>10}/s{readable(bare):>10}/s{served / bare:8.2f}",
                          flush=True)
                    figures.append({"id": f"s3: {work} {label}", "per_second": served, "bare_per_second": bare,
                                    "ratio": served / bare})
    return figures
