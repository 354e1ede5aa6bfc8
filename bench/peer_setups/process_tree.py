"""The children of a process, and theirs: their CPU, and their end if they outlive it."""

import os
import pathlib
import signal

import processes


class Child:
    """A process by its id and the time of its start, so that nobody who got the same id later is hit."""

    def __init__(self, pid):
        self.pid, self._started = pid, self._start_time(pid)

    @staticmethod
    def _start_time(pid):
        try:
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            return None
        return None if fields[0] == "Z" else fields[19]

    def alive(self):
        return self._started is not None and self._start_time(self.pid) == self._started

    def kill(self):
        if self.alive():
            os.kill(self.pid, signal.SIGKILL)


def children(pid):
    try:
        return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def descendants(pid):
    found = []
    for child in children(pid):
        found += [Child(child), *descendants(child)]
    return found


def cpu_seconds(roots):
    """User and system time so far of these processes and all below them."""
    pids = {pid for root in roots for pid in (root, *(child.pid for child in descendants(root)))}
    total = 0
    for pid in pids:
        try:
            total += processes.cpu_seconds(pid)
        except OSError:
            pass  # it has ended meanwhile
    return total
