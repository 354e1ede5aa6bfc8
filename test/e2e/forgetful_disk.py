"""A disk that loses what was not synced: test/support/forgetful_disk.cpp writes down what a program does, and
cut_power() undoes what a power failure may undo. The worst allowed by POSIX: a new entry of a directory is lost
until the directory is synced, and bytes are lost until the file is. Or they are written back early, while the entries
are lost: `entries_only`."""

import functools
import os
import pathlib
import shutil
import subprocess
import tempfile

from server_process import BINARY

COMPILER = "clang++-19"
SOURCE = pathlib.Path(__file__).resolve().parents[1] / "support" / "forgetful_disk.cpp"


@functools.cache
def library():
    """Compiled here where the build has no tests, as the soak's. Absolute: the loader passes over a library that it
    does not find, and the program runs elsewhere."""
    built = os.path.abspath(os.environ.get("RESTANTE_FORGETFUL_DISK",
                                           os.path.join(os.path.dirname(BINARY), "test", "forgetful_disk.so")))
    if os.path.exists(built):
        return built
    library.folder = tempfile.TemporaryDirectory(prefix="restante-disk-")
    made = os.path.join(library.folder.name, "forgetful_disk.so")
    subprocess.run([COMPILER, "-std=c++20", "-O1", "-shared", "-fPIC", "-o", made, SOURCE], check=True)
    return made


class ForgetfulDisk:
    def __init__(self, root, log, deaf=False):
        self.root = pathlib.Path(root)
        self.log = pathlib.Path(log)
        self.full = self.log.with_suffix(".full")
        self.bad = self.log.with_suffix(".bad")
        self.variables = {"LD_PRELOAD": library(), "RESTANTE_DISK_ROOT": str(root), "RESTANTE_DISK_LOG": str(log),
                          "RESTANTE_DISK_FULL": str(self.full), "RESTANTE_DISK_BAD": str(self.bad)}
        self._known = {}  # file: its size when it was last synced
        if deaf:
            self.variables["RESTANTE_DISK_DEAF"] = "1"

    def lines(self):
        if not self.log.exists():
            return []
        return [line.split("\t") for line in self.log.read_text().splitlines()]

    def cut_power(self, entries_only=False):
        """After the program was killed. The log begins anew."""
        if not self.log.exists():
            raise AssertionError(f"nothing was written down: {library()} was not loaded")
        entries = []  # what was done to directories and is not synced, oldest first
        dirty = {}  # file: the size that was synced, 0 for none
        dropped = set()  # files of which a sync has failed: no later one brings their bytes back
        for what, *paths in self.lines():
            if what in ("create", "mkdir"):
                entries.append((what, paths))
                if what == "create":
                    dirty.setdefault(paths[0], 0)
            elif what == "write":
                dirty.setdefault(paths[0], self._size_before(paths[0]))
            elif what == "rename":
                entries.append((what, paths))
                if paths[0] in dirty:
                    dirty[paths[1]] = dirty.pop(paths[0])
                dropped.discard(paths[1])
                if paths[0] in dropped:
                    dropped.remove(paths[0])
                    dropped.add(paths[1])
            elif what == "link":
                entries.append(("create", paths[1:]))
                synced = self._known.pop(paths[0], 0)  # its number may come again
                dirty[paths[1]] = dirty.pop(paths[0], synced)
            elif what == "drop":
                dropped.add(paths[0])
            elif what == "truncate":
                dropped.discard(paths[0])
            elif what == "sync" and paths[0] not in dropped:
                self._known[paths[0]] = int(paths[1])
                if paths[0] in dirty:
                    dirty[paths[0]] = int(paths[1])
                entries = [entry for entry in entries if os.path.dirname(entry[1][-1]) != paths[0]]
        for what, paths in reversed(entries):
            self._undo(what, paths, dirty)
        for path, size in dirty.items():
            if not entries_only and os.path.isfile(path) and os.path.getsize(path) > size:
                os.truncate(path, size)
        self.log.unlink(missing_ok=True)

    def _size_before(self, path):
        """What was there when the log began is safe."""
        return self._known.get(path, 0)

    def _undo(self, what, paths, dirty):
        if what == "mkdir":
            shutil.rmtree(paths[0], ignore_errors=True)
        elif what == "create":
            pathlib.Path(paths[0]).unlink(missing_ok=True)
            dirty.pop(paths[0], None)
        elif os.path.exists(paths[1]) and not os.path.exists(paths[0]):
            os.rename(paths[1], paths[0])
            if paths[1] in dirty:
                dirty[paths[0]] = dirty.pop(paths[1])
