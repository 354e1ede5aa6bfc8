"""The client under test: a home of its own, commands that run to their end, and pulls that go on."""

import hashlib
import json
import os
import pathlib
import queue
import re
import signal
import subprocess
import tempfile
import threading

import told_tokens
from server_process import BINARY, SANITIZER

CLIENT = os.environ.get("RESTANTE_CLIENT_BIN", os.path.join(os.path.dirname(BINARY), "restante-client"))


class Done:
    """What a command has come to."""

    def __init__(self, code, stdout, stderr):
        self.code = code
        self.stdout = stdout
        self.stderr = stderr

    def lines(self):
        return [json.loads(line) for line in self.stdout.splitlines()]

    def events(self, name):
        return [line for line in self.lines() if line["event"] == name]

    def __repr__(self):
        return f"exit code {self.code}\n{self.stdout}\n{self.stderr}"


class Home:
    """A user's home: settings, state, and the directory that gets the files."""

    def __init__(self, url, workspace, **variables):
        self._folder = tempfile.TemporaryDirectory(prefix="restante-client-")
        self.path = pathlib.Path(os.path.realpath(self._folder.name))
        self.inbox = self.path / "inbox"
        self.variables = {"HOME": str(self.path), "PATH": os.environ["PATH"], "RESTANTE_SERVER": url,
                          "RESTANTE_WORKSPACE": workspace.id, "RESTANTE_INTO": str(self.inbox), **variables}
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
            if name in os.environ:
                self.variables[name] = os.environ[name]
        if workspace.token:
            self.give_token(workspace.token)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def give_token(self, token):
        file = self.path / "token"
        file.write_text(told_tokens.remember(token) + "\n")
        file.chmod(0o600)
        self.variables["RESTANTE_TOKEN_FILE"] = str(file)

    def run(self, *words, timeout=60, stdin=None, binary=CLIENT, **variables):
        done = subprocess.run([binary, *words], capture_output=True, text=True, timeout=timeout, input=stdin,
                              env={**self.variables, **variables}, cwd=self.path)
        check_output(done.stdout, done.stderr)
        return Done(done.returncode, done.stdout, done.stderr)

    def pull(self, *words, **how):
        """What is there, with --json."""
        return self.run("pull", "--once", "--json", *words, **how)

    def start(self, *words, **variables):
        return Pull(self, words, variables)

    def files(self):
        """{name: digest} of what was delivered; the client's own hidden directory is not."""
        if not self.inbox.exists():
            return {}
        return {path.name: digest_of(path.read_bytes()) for path in self.inbox.iterdir() if path.is_file()}

    def journal(self):
        return "".join(path.read_text() for path in self.path.glob(".local/state/restante/*/journal"))

    def partials(self):
        return [path for path in self.path.glob(".local/state/restante/*/partial/*")]


class Pull:
    """`restante-client pull --json`, going on until it is stopped."""

    def __init__(self, home, words=(), variables=None):
        self._errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([CLIENT, "pull", "--json", *words], stdout=subprocess.PIPE, text=True,
                                        stderr=self._errors, env={**home.variables, **(variables or {})},
                                        cwd=home.path, start_new_session=True)
        self.lines = []
        self._queue = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def _read(self):
        for line in self.process.stdout:
            try:
                self._queue.put(json.loads(line))
            except json.JSONDecodeError:
                self._queue.put({"event": "torn", "code": line})
        self._queue.put(None)

    def wait_for(self, event, within=30, code=None):
        """The next line with this event."""
        while True:
            line = self._queue.get(timeout=within)
            if line is None:
                raise AssertionError(f"ended before {event}: {self.lines}\n{self.errors()}")
            self.lines.append(line)
            if line["event"] == event and code in (None, line["code"]):
                return line

    def drain(self):
        """Every line until its end."""
        while (line := self._queue.get(timeout=30)) is not None:
            self.lines.append(line)
        return self.lines

    def errors(self):
        self._errors.seek(0)
        return self._errors.read()

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        code = self.process.wait(timeout=30)
        self.drain()
        self._end()
        return code

    def kill(self):
        """kill -9, as a crash would."""
        if self._errors.closed:
            return
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._end()

    def _end(self):
        self._reader.join()
        self.process.stdout.close()
        text = self.errors()
        self._errors.close()
        check_output("", text)


def check_output(stdout, stderr):
    report = SANITIZER.search(stderr)
    if report:
        raise AssertionError("a sanitizer reported:\n" + stderr[report.start():report.start() + 6000])
    told_tokens.assert_untold(stdout + stderr, "the output of the client")


def digest_of(data):
    return hashlib.sha256(data).hexdigest()


def plain(name):
    """The name without the number that a taken one gets."""
    return re.sub(r" \(\d+\)(?=\.[^.]*$|$)", "", name)
