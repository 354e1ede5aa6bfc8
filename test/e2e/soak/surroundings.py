"""Servers in a restricted environment: a script sets the limits, or another clock, and then execs the
server."""

import contextlib
import os
import pathlib
import shlex
import tempfile

FAKETIME = pathlib.Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")


@contextlib.contextmanager
def wrapped(binary, *lines):
    """The path of a script that runs shell lines and then execs the binary."""
    with tempfile.TemporaryDirectory(prefix="restante-wrapped-") as folder:
        path = os.path.join(folder, "restante")
        with open(path, "w") as script:
            become = f'exec {shlex.quote(os.path.abspath(binary))} "$@"'
            script.write("\n".join(["#!/bin/sh", *lines, become, ""]))
        os.chmod(path, 0o755)
        yield path


class Clock:
    """The wall clock of one process, kept in a file that libfaketime reads. Its monotonic clock is
    unaffected, as when somebody sets a machine's clock."""

    def __init__(self, folder):
        self._path = os.path.join(folder, "clock")
        self._write("+0")

    def lines(self):
        if not FAKETIME.exists():
            raise AssertionError(f"{FAKETIME} is not there: apt-get install faketime")
        return [f"export {name}={shlex.quote(str(value))}" for name, value in {
            "LD_PRELOAD": FAKETIME, "FAKETIME_TIMESTAMP_FILE": self._path, "FAKETIME_NO_CACHE": 1,
            "FAKETIME_DONT_FAKE_MONOTONIC": 1, "DONT_FAKE_MONOTONIC": 1}.items()]

    @contextlib.contextmanager
    def shifted(self, by):
        self._write(f"{int(by.total_seconds()):+d}")
        try:
            yield
        finally:
            self._write("+0")

    def _write(self, text):
        """Atomically: half a file would be another time."""
        with open(self._path + ".new", "w") as file:
            file.write(text + "\n")
        os.rename(self._path + ".new", self._path)
