"""A control group with a memory limit. Unlike a limit on a process, it also counts memory that the kernel
uses for it: the page cache of the files it writes, and the buffers of its sockets."""

import contextlib
import os
import pathlib
import subprocess
import tempfile
import time

MOUNTED = pathlib.Path("/sys/fs/cgroup")


class ControlGroup:
    """A child of this process's own group, so that our limits also apply to the processes put there."""

    def __init__(self, folder, limit, peak, failures):
        self._folder, self.limit, self._peak, self._failures = folder, limit, peak, failures

    def lines(self):
        """Shell lines that enter it."""
        return [f"echo $$ > {self._folder}/cgroup.procs"]

    def peak(self):
        return int((self._folder / self._peak).read_text())

    def report(self):
        return (f"control group: {self.peak() / 2**20:.0f} of {self.limit / 2**20:.0f} MiB at most, page cache and sockets "
                f"included; {self._ended()} processes ended for want of memory")

    def _ended(self):
        fields = dict(line.split() for line in (self._folder / self._failures).read_text().splitlines())
        return int(fields["oom_kill"])

    def _remove(self):
        for _ in range(50):  # processes that have just ended still count
            with contextlib.suppress(OSError):
                return self._folder.rmdir()
            time.sleep(0.1)
        self._folder.rmdir()


@contextlib.contextmanager
def control_group(limit):
    """A group of `limit` bytes, or None if it cannot be created: that takes root, and with version 2 a parent
    that delegates memory to its children. None, too, where the files that the server writes would count as its
    memory, and could not be taken out of it: where /tmp is a tmpfs."""
    made = None if _is_in_memory(tempfile.gettempdir()) else _make(limit)
    try:
        yield made
    finally:
        if made:
            made._remove()


def _is_in_memory(folder):
    return subprocess.run(["stat", "--file-system", "--format=%T", folder], check=True, capture_output=True,
                          text=True).stdout.strip() == "tmpfs"


def _make(limit):
    lines = pathlib.Path("/proc/self/cgroup").read_text().splitlines()
    ours = {controllers: path for _, controllers, path in (line.split(":", 2) for line in lines)}
    name = f"restante-{os.getpid()}-{time.monotonic_ns()}"
    if "memory" in ours:
        folder = MOUNTED / "memory" / ours["memory"].lstrip("/") / name
        return _limited(folder, limit, "memory.limit_in_bytes", "memory.max_usage_in_bytes", "memory.oom_control")
    if "" in ours:
        folder = MOUNTED / ours[""].lstrip("/") / name
        return _limited(folder, limit, "memory.max", "memory.peak", "memory.events")
    return None


def _limited(folder, limit, limit_file, peak, failures):
    try:
        folder.mkdir()
    except OSError:
        return None
    try:
        # r+ does not create a missing file, which an ordinary folder would allow.
        with open(folder / limit_file, "r+") as file:
            file.write(str(limit))
        (folder / peak).read_text()
        return ControlGroup(folder, limit, peak, failures)
    except OSError:
        folder.rmdir()
        return None
