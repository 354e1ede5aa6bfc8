"""Servers in a restricted environment: a script sets the limits, or another clock, and then execs the
server."""

import contextlib
import os
import pathlib
import shlex
import struct
import subprocess
import tempfile

COMPILER = "clang++-19"
SOURCE = pathlib.Path(__file__).resolve().parents[2] / "support" / "shifted_clock.cpp"


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
    """The wall clock of one process: test/support/shifted_clock.cpp, preloaded, reads from a file by how much
    it differs. Its monotonic clock is unaffected, as when somebody sets a machine's clock."""

    def __init__(self, folder):
        self._shift = pathlib.Path(folder, "shift").absolute()
        self._library = pathlib.Path(folder, "shifted_clock.so").absolute()
        self._set(0)
        # Compiled here, because the soak's build has no tests.
        subprocess.run([COMPILER, "-std=c++20", "-O1", "-shared", "-fPIC", "-o", self._library, SOURCE], check=True)

    def lines(self):
        return [f"export {name}={shlex.quote(str(value))}" for name, value in {
            "LD_PRELOAD": self._library, "RESTANTE_CLOCK": self._shift}.items()]

    @contextlib.contextmanager
    def shifted(self, by):
        self._set(int(by.total_seconds()))
        try:
            yield
        finally:
            self._set(0)

    def _set(self, seconds):
        """In place, and in one piece: the process has mapped the file."""
        file = os.open(self._shift, os.O_WRONLY | os.O_CREAT, 0o644)
        try:
            os.pwrite(file, struct.pack("q", seconds), 0)
        finally:
            os.close(file)
