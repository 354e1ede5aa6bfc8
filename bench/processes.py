"""What the benchmarks have to know about processes: free ports, CPU time and peak memory."""

import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import time


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


def wait_until_listening(process, port, seconds=60):
    """Returns False if the process has ended or if nothing listens on the port in time."""
    give_up_at = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < give_up_at:
        if listens(port):
            return True
        time.sleep(0.05)
    return False


def end(process, seconds=30):
    """Ends a process that was started here, if it has not ended; one that does not in time is killed."""
    process.terminate()
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def end_postmaster(pid):
    """Ends a PostgreSQL whose data nobody needs any more, and waits for it."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        signal.pidfd_send_signal(handle, signal.SIGQUIT)
        select.select([handle], [], [], 30)
    except ProcessLookupError:
        pass
    finally:
        os.close(handle)


def stat_seconds(pid, *which):
    # The command name in parentheses may itself contain spaces and parentheses.
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(int(fields[index]) for index in which) / os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    """User and system time of the process so far."""
    return stat_seconds(pid, 11, 12)


def tree_cpu_seconds(pid):
    """The same of the process and its children together, those that have ended included."""
    while True:
        try:
            children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            return sum(cpu_seconds(int(child)) for child in children) + stat_seconds(pid, 11, 12, 13, 14)
        except FileNotFoundError:
            if not pathlib.Path(f"/proc/{pid}").exists():
                raise
            # A child has ended meanwhile.


def peak_mib(pid):
    """The highest resident memory of the process so far."""
    return int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) / 1024
