"""What all peers have in common: a folder, processes that are ended by their id, and plain HTTP calls."""

import contextlib
import dataclasses
import http.client
import os
import pathlib
import shutil
import subprocess
import time

import processes

from .process_tree import descendants

WORKSPACES = 16
FILES_TO_FETCH = 64  # different ones, staged before fetches


class NotPossible(Exception):
    """This peer cannot be set up or measured here; the text says why."""


@dataclasses.dataclass
class Load:
    """Requests for wrk: lines of method, path and headers, and what follows them."""
    port: int
    lines: list
    body: str = "none"     # none, raw or form; see load.lua
    once: bool = False     # each line is good for one request
    patch: bool = False    # tus: each upload is two requests, a POST and a PATCH


def as_line(method, path, *headers):
    return "\t".join([method, path, *headers])


class Peer:
    """Started by start() and ended by stop(). What a subclass does not override, its server cannot do."""

    name = what = protocol = wakes_by = ""
    kept = ""        # in two words, where an item is once it is confirmed
    durability = ""  # the same in a sentence
    instead = {}     # for a kind of work that is not measured: what the table says
    notes = {}       # figures that belong to no column
    programs = {}    # which it needs, and the Debian packages that have them

    def __init__(self, common):
        self.common = common
        self.folder = common.folder / self.name
        self.port = processes.free_port()
        self._processes = []

    def start(self):
        raise NotImplementedError

    def uploads(self, size, count):
        """A Load for at least this many uploads."""
        return None

    def fetches(self, size):
        return None

    def wakes(self, count):
        """Clients that wait; see waking.py."""
        return None

    def empty(self):
        """Removes what was stored."""

    def require_programs(self):
        missing = [package for program, package in self.programs.items() if not shutil.which(program)]
        if missing:
            raise NotPossible("not installed: " + " ".join(sorted(set(missing))))

    def make_folder(self):
        self.folder.mkdir(mode=0o711)
        self.folder.chmod(0o711)  # whatever the umask: as root, PostgreSQL runs as the user postgres

    def run(self, command, port=None, **env):
        """Starts a process and waits until it listens."""
        log = self.folder / f"{pathlib.Path(command[0]).name}.log"
        with log.open("w") as out:
            process = subprocess.Popen(command, env={**os.environ, **env}, stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=subprocess.STDOUT, cwd=self.folder, start_new_session=True)
        self._processes.append(process)
        if port and not processes.wait_until_listening(process, port, seconds=30):
            raise NotPossible("it did not start: " + " ".join(log.read_text(errors="replace")[-500:].split()))
        return process

    def stop(self):
        """Ends what run() started, and the children of that which survive it."""
        children = [child for process in self._processes for child in descendants(process.pid)]
        for process in reversed(self._processes):
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._processes = []
        give_up_at = time.monotonic() + 5
        while any(child.alive() for child in children) and time.monotonic() < give_up_at:
            time.sleep(0.05)
        for child in children:
            child.kill()

    def roots(self):
        """The processes whose CPU, with that of their children, is the server's."""
        return [process.pid for process in self._processes]

    def call(self, method, path, body=None, headers=None, timeout=30):
        """One request. Returns the status, the headers and the body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        with contextlib.closing(connection):
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()

    def expect(self, wanted, method, path, *rest, **how):
        """The same, for one that must succeed."""
        status, headers, body = self.call(method, path, *rest, **how)
        if status != wanted:
            raise NotPossible(f"{method} {path} returned {status} {body[:300]!r}")
        return headers, body


def remove_files(folder):
    """Removes all files below, and keeps the directories."""
    for path, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(FileNotFoundError):  # one that the server itself removes, of an upload cut off
                os.unlink(os.path.join(path, name))
