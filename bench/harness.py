"""Starts a release server with a private PostgreSQL in a temporary directory, and loads it."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid

from cluster import psql

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/release"
SERVER = BUILD / "restante"
TOOL = BUILD / "bench/restante-bench"


def say(text):
    print(text, file=sys.stderr, flush=True)


def fail(text):
    sys.exit("bench: " + text)


def run_main(main):
    """Runs main() so that SIGTERM and Ctrl-C still stop every process that it started."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)


def run_common(function, *arguments):
    """Calls a function of scripts/common.sh, as ./start does. Its output goes to standard error."""
    script = 'set -euo pipefail; source scripts/common.sh; "$@"'
    done = subprocess.run(["bash", "-c", script, "bench", function, *arguments], cwd=ROOT, stdout=sys.stderr)
    if done.returncode:
        sys.exit(done.returncode)


def install_packages(*lists):
    """Installs the missing packages of these files, or says which command installs them."""
    run_common("install_packages", *lists)


def require_programs(packages):
    """Ends the program if one of these is missing, and names the Debian packages to install."""
    missing = [package for program, package in packages.items() if not shutil.which(program)]
    if missing:
        fail(f"some programs are missing; on Debian 12: apt-get install {' '.join(missing)}")


def build(*targets):
    """Builds targets of the release. The first time takes minutes; later only what changed is compiled."""
    run_common("build", "release", *targets)


class Server:
    """Started by the constructor, ended by stop(). Signals are sent only to the process started here."""

    def __init__(self, *flags, binary=SERVER):
        self._folder = pathlib.Path(tempfile.mkdtemp(prefix="restante-bench-", dir="/tmp"))
        self._folder.chmod(0o711)  # as root, PostgreSQL runs as the user postgres, who must get in
        self.data = self._folder / "data"
        self._log = open(self._folder / "log", "w+b")
        self.process = subprocess.Popen(
            [binary, "serve", "--data-dir", self.data, "--spool-dir", self._folder, "--listen", "127.0.0.1:0",
             "--listen-tls", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", "--sweep-interval", "7d",
             "--idle-timeout", "10m", *flags],
            stdout=subprocess.PIPE, stderr=self._log, text=True, start_new_session=True)
        line = self.process.stdout.readline()
        ready = re.match(r"restante ready http=(\S+) https=(\S+) metrics=(\S+)", line)
        if not ready:
            self.process.wait(timeout=60)
            self._log.seek(0)
            logged = self._log.read().decode(errors="replace")[-2000:]
            shutil.rmtree(self._folder, ignore_errors=True)
            fail("the server did not start:\n" + logged)
        self.http, self.https, self.metrics = ready.groups()
        self.postmaster = int((self.data / "postgres/data/postmaster.pid").read_text().split()[0])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            say(f"the server does not stop; its process is {self.process.pid}, its data {self._folder}")
            return
        self.process.stdout.close()
        self._log.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def conninfo(self):
        recorded = self.data / "postgres/socket_directory"
        socket = recorded.read_text().strip() if recorded.exists() else self.data / "postgres/socket"
        return f"host={socket} port=5432 user=postgres dbname=postgres"

    def sql(self, text):
        return psql(self.conninfo, text)

    def register(self):
        """Adds a workspace. Returns its id and its token."""
        identity = str(uuid.uuid4())
        body = json.dumps({"id": identity, "delivery_mode": "poll"}).encode()
        request = urllib.request.Request(f"http://{self.http}/registry/register", body,
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return identity, json.load(answer)["auth_token"]

    def delete_files(self):
        """Lets the next workload begin with an empty table and no dirty pages."""
        self.sql("TRUNCATE pending_uploads, upload_requests; CHECKPOINT")


class Bench:
    """Runs restante-bench, passes its table through and collects its figures."""

    def __init__(self, server, seconds, head_shown=False):
        self.server, self.seconds, self.figures = server, seconds, []
        self._head_shown = head_shown

    def run(self, work, *flags, tls=False, seconds=None, show=True):
        url = "https://" + self.server.https if tls else "http://" + self.server.http
        with tempfile.NamedTemporaryFile(suffix=".json") as out:
            command = [TOOL, work, "--server", url, "--metrics", self.server.metrics,
                       "--server-pid", str(self.server.process.pid),
                       "--postgres-pid", str(self.server.postmaster),
                       "--seconds", str(seconds or self.seconds), "--json", out.name, *flags]
            if self._head_shown:
                command.append("--no-head")
            done = subprocess.run(command, stdout=None if show else subprocess.DEVNULL)
            self._head_shown = self._head_shown or show
            text = pathlib.Path(out.name).read_text()
        if not text:
            fail(f"{work} could not be measured (exit code {done.returncode})")
        rows = json.loads(text)
        self.figures += [{"id": work + (" tls" if tls else ""), **row} for row in rows]
        return rows


@contextlib.contextmanager
def running_server(*flags, **how):
    server = Server(*flags, **how)
    try:
        yield server
    finally:
        server.stop()


def sweep_until_empty(binary, conninfo):
    """Runs sweep cycles until one finds nothing. Returns the rows deleted and the cycles it took."""
    swept = cycles = 0
    while True:
        out = subprocess.run([binary, "sweep", "--database-url", conninfo], capture_output=True, text=True,
                             check=True).stdout
        deleted = sum(int(count) for count in re.findall(r"^(?:acked|expired)\s+(\d+)", out, re.M))
        if deleted == 0:
            return swept, cycles
        swept, cycles = swept + deleted, cycles + 1


def machine():
    """One line about the machine that the figures come from."""
    cpu = re.search(r"model name\s*:\s*(.+)", pathlib.Path("/proc/cpuinfo").read_text())
    memory = int(re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())[1]) / 1024 / 1024
    name = cpu[1] if cpu else os.uname().machine
    return (f"{name}, {os.cpu_count()} cores, {memory:.0f} GiB, Linux {os.uname().release}; "
            f"load before: {os.getloadavg()[0]:.1f}; {time.strftime('%Y-%m-%d')}")
