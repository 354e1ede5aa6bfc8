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

import processes
from cluster import psql

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/release"
SERVER = BUILD / "restante"
TOOL = BUILD / "bench/restante-bench"
STOP_SECONDS = 60
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def say(text):
    print(text, file=sys.stderr, flush=True)


def fail(text):
    sys.exit("bench: " + text)


_undisturbed, _late = 0, []
_running = []  # servers, for a signal that comes just before somebody would stop them


@contextlib.contextmanager
def undisturbed():
    """Meanwhile a signal waits: it would leave a process that nobody knows of yet, or one that is being stopped."""
    global _undisturbed
    _undisturbed += 1
    try:
        yield
    finally:
        _undisturbed -= 1
    if _late and not _undisturbed:
        end_by_signal(_late.pop(), None)


def end_by_signal(number, _):
    """Unwinds, so that everything that was started is stopped. A second signal would break that off."""
    if _undisturbed:
        _late[:] = [number]
        return
    for each in ENDING_SIGNALS:
        signal.signal(each, lambda *_: None)
    say("stopping what was started …")
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + number)


def run_main(main):
    """Runs main() so that a signal and a program that fails, too, stop every process that it started."""
    for number in ENDING_SIGNALS:
        signal.signal(number, end_by_signal)
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
    except subprocess.CalledProcessError as failure:
        said = failure.stderr or ""
        said = said if isinstance(said, str) else said.decode(errors="replace")
        fail(f"{failure.cmd[0]} ended with {failure.returncode}\n{said[-2000:]}".rstrip())
    finally:
        for server in list(_running):
            server.stop()


def read_output(command):
    """What a program printed that starts servers itself: when we are ended it gets the time to stop them, which
    subprocess.run would not give it."""
    process = None
    try:
        with undisturbed():
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        out = process.stdout.read()
        if process.wait():
            raise subprocess.CalledProcessError(process.returncode, command)
        return out
    finally:
        if process:
            with undisturbed():
                processes.end(process, seconds=120)
            process.stdout.close()


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
    """Started by the constructor, ended by stop(), with a PostgreSQL of its own unless a cluster is given. Signals are
    sent only to the process started here and, when that had to be killed, to the PostgreSQL that it left."""

    http = https = metrics = postmaster = None

    def __init__(self, *flags, binary=SERVER, cluster=None):
        self._folder = pathlib.Path(tempfile.mkdtemp(prefix="restante-bench-", dir="/tmp"))
        self._folder.chmod(0o711)  # as root, PostgreSQL runs as the user postgres, who must get in
        self.data = self._folder / "data"
        self._cluster = cluster
        if cluster:
            flags = ("--database-url", cluster.conninfo(), *flags)
        self._log = open(self._folder / "log", "w+b")
        self.process = None
        _running.append(self)
        try:
            self._start([binary, "serve", "--data-dir", self.data, "--spool-dir", self._folder, "--listen",
                         "127.0.0.1:0", "--listen-tls", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0",
                         "--sweep-interval", "7d", "--idle-timeout", "10m", *flags])
        except BaseException:  # also when it is interrupted: nobody else knows of it yet
            self.stop()
            raise

    def _start(self, command):
        with undisturbed():
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self._log, text=True,
                                            start_new_session=True)
        line = self.process.stdout.readline()
        ready = re.match(r"restante ready http=(\S+) https=(\S+) metrics=(\S+)", line)
        if not ready:
            self._log.seek(0)
            fail("the server did not start:\n" + self._log.read().decode(errors="replace")[-2000:])
        self.http, self.https, self.metrics = ready.groups()
        self.postmaster = self._cluster.postmaster if self._cluster else int(
            self._postmaster_file().read_text().split()[0])

    def _postmaster_file(self):
        return self.data / "postgres/data/postmaster.pid"

    def stop(self):
        with undisturbed():
            if self not in _running:
                return
            _running.remove(self)
            if self.process:
                self._end_processes()
                self.process.stdout.close()
            self._log.close()
            shutil.rmtree(self._folder, ignore_errors=True)

    def _end_processes(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            say(f"the server does not stop and is killed: {self.process.pid}")
            self.process.kill()
            self.process.wait()
        # A server that stops takes its PostgreSQL along; one that was killed or has crashed leaves it.
        if self._postmaster_file().exists():
            processes.end_postmaster(int(self._postmaster_file().read_text().split()[0]))

    @property
    def conninfo(self):
        if self._cluster:
            return self._cluster.conninfo()
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
