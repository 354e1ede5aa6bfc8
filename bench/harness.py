"""A release server with its own private PostgreSQL in a temporary directory, and restante-bench beside it."""

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

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/release"
SERVER = BUILD / "restante"
TOOL = BUILD / "bench/restante-bench"


def say(text):
    print(text, file=sys.stderr, flush=True)


def fail(text):
    sys.exit("bench: " + text)


def build():
    """Only what changed is compiled; the first time takes minutes."""
    for step in (["--preset", "release"], ["--build", "--preset", "release", "--target", "restante", "restante-bench"]):
        done = subprocess.run(["cmake", *step], cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            fail("the build failed:\n" + (done.stdout + done.stderr)[-4000:])


class Server:
    """Started when made, ended by stop(). Only processes that this object started are ever signalled."""

    def __init__(self, *flags):
        self._folder = pathlib.Path(tempfile.mkdtemp(prefix="restante-bench-", dir="/tmp"))
        self._folder.chmod(0o711)  # PostgreSQL runs as another user when we are root
        self.data = self._folder / "data"
        self._log = open(self._folder / "log", "w+b")
        self.process = subprocess.Popen(
            [SERVER, "serve", "--data-dir", self.data, "--spool-dir", self._folder, "--listen", "127.0.0.1:0",
             "--listen-tls", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", "--sweep-interval", "7d",
             "--idle-timeout", "10m", *flags],
            stdout=subprocess.PIPE, stderr=self._log, text=True, start_new_session=True)
        line = self.process.stdout.readline()
        ready = re.match(r"restante ready http=(\S+) https=(\S+) metrics=(\S+)", line)
        if not ready:
            self.process.wait(timeout=60)
            self._log.seek(0)
            told = self._log.read().decode(errors="replace")[-2000:]
            shutil.rmtree(self._folder, ignore_errors=True)
            fail("the server did not start:\n" + told)
        self.http, self.https, self.metrics = ready.groups()
        self.postmaster = int((self.data / "postgres/data/postmaster.pid").read_text().split()[0])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            say(f"the server does not end; its process is {self.process.pid}, its data {self._folder}")
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
        done = subprocess.run(["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", self.conninfo], input=text, text=True,
                              capture_output=True)
        if done.returncode:
            fail("PostgreSQL refused: " + done.stderr.strip())
        return done.stdout.strip()

    def register(self):
        """A new workspace: its id and its token."""
        identity = str(uuid.uuid4())
        request = urllib.request.Request(
            f"http://{self.http}/registry/register", json.dumps({"id": identity, "delivery_mode": "poll"}).encode(),
            {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return identity, json.load(answer)["auth_token"]

    def forget_files(self):
        """Each work begins with an empty table and nothing left to write back."""
        self.sql("TRUNCATE pending_uploads, upload_requests; CHECKPOINT")


class Bench:
    """Runs restante-bench, lets its table through and keeps its figures."""

    def __init__(self, server, seconds, head_shown=False):
        self.server, self.seconds, self.figures = server, seconds, []
        self._head_shown = head_shown

    def run(self, work, *flags, tls=False, seconds=None, show=True):
        place = "https://" + self.server.https if tls else "http://" + self.server.http
        with tempfile.NamedTemporaryFile(suffix=".json") as out:
            command = [TOOL, work, "--server", place, "--metrics", self.server.metrics, "--server-pid",
                       str(self.server.process.pid), "--postgres-pid", str(self.server.postmaster), "--seconds",
                       str(seconds or self.seconds), "--json", out.name, *flags]
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
def running_server(*flags):
    server = Server(*flags)
    try:
        yield server
    finally:
        server.stop()


def machine():
    """What the figures were measured on, in a line."""
    cpu = re.search(r"model name\s*:\s*(.+)", pathlib.Path("/proc/cpuinfo").read_text())
    memory = int(re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())[1]) / 1024 / 1024
    name = cpu[1] if cpu else os.uname().machine
    return (f"{name}, {os.cpu_count()} cores, {memory:.0f} GiB, Linux {os.uname().release}; "
            f"load before: {os.getloadavg()[0]:.1f}; {time.strftime('%Y-%m-%d')}")
