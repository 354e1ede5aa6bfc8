"""The server under test: started, inspected from outside, stopped."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading

import conformance
import told_tokens
from http_wire import Wire, await_true, request_head

BINARY = os.environ.get("RESTANTE_BIN", "build/asan/restante")
# A shell that runs tests in the background has them ignore it, and so would every program that they start.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SANITIZER = re.compile(r"ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error:")


def release_binary():
    """The release build, for measurements that a sanitizer would distort: RESTANTE_RELEASE_BIN, or the
    sibling of the binary under test. None if there is none."""
    told = os.environ.get("RESTANTE_RELEASE_BIN")
    beside = pathlib.Path(BINARY).resolve().parent.parent / "release" / "restante"
    found = pathlib.Path(told) if told else beside
    return str(found) if found.exists() else None


def is_sanitized(binary):
    """Whether a sanitizer was compiled in: its memory usage says nothing about the server."""
    data = pathlib.Path(binary).read_bytes()
    return any(mark in data for mark in (b"__asan_init", b"__tsan_init"))


def run_command(*words, binary=None, timeout=60):
    """Runs `restante WORDS…` to completion: (exit code, stdout, stderr)."""
    done = subprocess.run([binary or BINARY, *words], capture_output=True, text=True, timeout=timeout)
    told_tokens.assert_untold(done.stderr, "stderr of a command")
    return done.returncode, done.stdout, done.stderr


class Server:
    """`restante serve` on free ports. Its log is kept in a file and checked for sanitizer reports at the
    end; with a descriptor as `stderr` it goes there instead."""

    address = tls_address = metrics_address = None
    _added_flags = ()

    def __init__(self, database_url, *flags, binary=None, environment=None, stderr=None):
        self._folder = tempfile.TemporaryDirectory(prefix="restante-e2e-")
        self.spool_dir = os.path.join(self._folder.name, "spool")
        os.mkdir(self.spool_dir)
        self.data_dir = os.path.join(self._folder.name, "data")
        self._log = open(os.path.join(self._folder.name, "log"), "w+b")
        self.binary = binary or BINARY
        self._command = [self.binary, "serve", "--database-url", database_url, "--spool-dir", self.spool_dir,
                         "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0",
                         "--data-dir", self.data_dir, *flags]
        self._stderr = self._log if stderr is None else stderr
        # Most tests send `Host: test`, which a loopback listener serves only when it is named.
        self._environment = {"RESTANTE_ALLOWED_HOST": "test", **os.environ, **(environment or {})}
        self.process = None
        self.start()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.close(checked=kind is None)

    def start(self):
        """Starts it; after kill() it can be started again, on other ports."""
        # In its own process group it does not receive a Ctrl-C that is meant for the test.
        self.process = subprocess.Popen([*self._command, *self._added_flags], stdout=subprocess.PIPE,
                                        stderr=self._stderr, text=True, start_new_session=True, env=self._environment)
        alarm = threading.Timer(60, self.process.kill)
        alarm.start()
        line = self.process.stdout.readline()
        alarm.cancel()
        ready = re.fullmatch(r"restante ready http=(\S+) https=(\S*) metrics=(\S+)\n", line)
        if not ready:
            self.kill()
            raise AssertionError(f"the server did not start: {line!r}\n{self.log_text()[-4000:]}")
        self._end_conformance()
        self.address, self.tls_address, self.metrics_address = map(_address, ready.groups())
        conformance.end(self.metrics_address)  # another server may have had this port for its API
        for address in (self.address, self.tls_address):
            conformance.begin(address, BINARY)

    def use_binary(self, binary, *flags):
        """At the next start, with these flags besides its own."""
        self.binary = self._command[0] = binary
        self._added_flags = flags

    def wait_ready(self, within=20):
        await_true(lambda: self.get("/readyz").status == 200, within, "/readyz says 200")
        return self

    def get(self, target, metrics=False):
        with Wire(self.metrics_address if metrics else self.address) as wire:
            wire.send(request_head("GET", target, [("Host", "test"), ("Connection", "close")]))
            return wire.read_answer()

    def metrics(self):
        """Every sample by its name with labels, as written."""
        samples = {}
        for line in self.get("/metrics", metrics=True).body.decode().splitlines():
            if line and not line.startswith("#"):
                name, _, value = line.rpartition(" ")
                samples[name] = float(value)
        return samples

    def log_size(self):
        """The end of its last complete line. The file grows by pages, so it can briefly end with half a
        line."""
        size = os.fstat(self._log.fileno()).st_size
        begin = max(0, size - 64 * 1024)
        return begin + os.pread(self._log.fileno(), size - begin, begin).rfind(b"\n") + 1

    def log_lines(self, since=0):
        """The lines written after a log_size(), parsed. A line that is not one JSON object fails the test."""
        return [json.loads(line) for line in self.log_text(since).splitlines()]

    def log_text(self, since=0):
        return os.pread(self._log.fileno(), self.log_size() - since, since).decode()

    def descriptors(self):
        """The target of every open descriptor."""
        folder, targets = f"/proc/{self.process.pid}/fd", []
        for name in os.listdir(folder):
            try:
                targets.append(os.readlink(f"{folder}/{name}"))
            except FileNotFoundError:
                pass  # closed meanwhile
        return targets

    def spool_files(self):
        """Temporary files that are open, and files left in the spool directory."""
        held = [path for path in self.descriptors() if path.startswith(self.spool_dir)]
        return held + os.listdir(self.spool_dir)

    def client_connections(self):
        """The number of client connections, counted by descriptors."""
        local = ":%04X" % self.address[1]
        with open(f"/proc/{self.process.pid}/net/tcp") as table:
            entries = [line.split() for line in table.readlines()[1:]]
        ours = {f"socket:[{entry[9]}]" for entry in entries if entry[1].endswith(local) and entry[3] != "0A"}
        return sum(target in ours for target in self.descriptors())

    def resident_bytes(self, peak=False):
        with open(f"/proc/{self.process.pid}/status") as status:
            fields = dict(line.split(":", 1) for line in status)
        return int(fields["VmHWM" if peak else "VmRSS"].split()[0]) * 1024

    def anonymous_bytes(self):
        """What it has allocated and not given back; pages of the program itself do not count."""
        with open(f"/proc/{self.process.pid}/status") as status:
            fields = dict(line.split(":", 1) for line in status)
        return int(fields["RssAnon"].split()[0]) * 1024

    def forget_peak(self):
        """From here on resident_bytes(peak=True) is measured. Returns what is resident now."""
        with open(f"/proc/{self.process.pid}/clear_refs", "w") as reset:
            reset.write("5")
        return self.resident_bytes()

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def alive(self):
        return self.process.poll() is None

    def kill(self):
        """kill -9, as a crash would."""
        if self.alive():
            self.process.kill()
        self.process.wait()
        self._end_conformance()
        self.process.stdout.close()

    def _end_conformance(self):
        """Somebody else may listen on its ports now."""
        for address in (self.address, self.tls_address):
            conformance.end(address)

    def stop(self):
        """Sends SIGTERM and returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            where = self._stacks()
            self.kill()
            raise AssertionError(f"it did not stop; the log ends with:\n{self.log_text()[-3000:]}\n{where}") from None
        self.process.stdout.close()
        self._end_conformance()
        return code

    def _stacks(self):
        """Where its threads are, if elfutils or gdb is there to tell."""
        pid = str(self.process.pid)
        for command in (["eu-stack", "-p", pid], ["gdb", "-p", pid, "-batch", "-ex", "thread apply all bt"]):
            if shutil.which(command[0]):
                told = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
                return told.stdout[-12000:]
        return ""

    def _check_metrics(self):
        try:
            text = self.get("/metrics", metrics=True).body.decode()
        except OSError:
            return  # a test may end with a server that accepts no more connections
        told_tokens.assert_untold(text, "the metrics")

    def close(self, checked=True):
        """Stops it, and fails on a bad exit code, a sanitizer report, or a token in the log or the
        metrics."""
        try:
            running = self.alive()
            if running and checked:
                self._check_metrics()
            code = self.stop() if running else self.process.returncode
            text = self.log_text()
            told_tokens.assert_untold(text, "the log")
            report = SANITIZER.search(text)
            if report:
                raise AssertionError("a sanitizer reported:\n" + text[report.start():report.start() + 6000])
            conformance.assert_documented()
            if checked and running and code != 0:
                raise AssertionError(f"exit code {code}; the log ends with:\n{text[-3000:]}")
        finally:
            self.kill()
            self._log.close()
            self._folder.cleanup()


def _address(text):
    host, _, port = text.rpartition(":")
    return (host, int(port)) if port else None
