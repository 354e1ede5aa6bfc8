"""The table of faults: what is done how often, in what surroundings, in ./check and in full. Each is a run of its own
under load, followed by a count of what went missing."""

import contextlib
import dataclasses
import tempfile

from bed import Bed
from disks import DataDisk, WalDisk
from nemesis import Nemesis
from server_process import BINARY, is_sanitized, release_binary
from surroundings import Clock, wrapped

PACE, PAUSE = 0.25, (0.05, 0.4)
DESCRIPTORS, MEMORY_KIB = 160, 512 * 1024


@dataclasses.dataclass(frozen=True)
class Trial:
    fault: str
    full: int  # how often, in a full run
    quick: int  # how often in ./check; 0: not at all
    replicas: int = 1
    flags: tuple = ()
    pace: float = PACE
    pause: tuple = PAUSE
    disk: object = None  # makes the small disk
    descriptors: int | None = None
    memory_kib: int | None = None
    clock: bool = False


TRIALS = [
    Trial("kill_server", 100, 10),
    Trial("kill_backend", 20, 3),
    Trial("kill_postgres", 10, 2),
    Trial("terminate_one_session", 250, 40),
    Trial("terminate_all_sessions", 50, 5),
    Trial("stop_postgres", 1, 0),
    Trial("half_open_database", 5, 1),
    Trial("kill_server", 20, 4, replicas=2),
    Trial("freeze_server_in_commit", 10, 2, replicas=2),
    Trial("freeze_server_for_long", 5, 1, replicas=2),
    Trial("jump_clock", 10, 3, clock=True),
    Trial("fill_disk", 3, 1, disk=lambda: DataDisk("400m")),
    Trial("fill_disk", 3, 1, disk=lambda: WalDisk("200m")),
    Trial("more_clients_than_descriptors", 10, 2, descriptors=DESCRIPTORS, flags=("--db-connections", "4")),
    Trial("crowd_of_slow_clients", 1, 0),
    Trial("small_crowd_of_slow_clients", 0, 1),
    Trial("abort_clients", 100, 8),  # 50 each
    Trial("crowd_of_large_uploads", 1, 0, memory_kib=MEMORY_KIB, pace=2),
    Trial("small_crowd_of_large_uploads", 0, 1, memory_kib=MEMORY_KIB, pace=2),
]


def find(fault, **wanted):
    """The only trial of that fault with such attributes."""
    (found,) = [trial for trial in TRIALS if trial.fault == fault and
                all(getattr(trial, name) == value for name, value in wanted.items())]
    return found


def run_trial(trial, count, seed, say, slack=1):
    """The findings of a run in which the fault happens `count` times."""
    with contextlib.ExitStack() as around:
        binary, lines, clock = BINARY, [], None
        if trial.descriptors:
            lines.append(f"ulimit -n {trial.descriptors}")
        if trial.memory_kib:
            # Sanitizers keep their shadows in more address space than any limit would leave them.
            binary = release_binary() or BINARY
            lines += [] if is_sanitized(binary) else [f"ulimit -d {trial.memory_kib}"]
        if trial.clock:
            binary = release_binary() or BINARY
            clock = Clock(around.enter_context(tempfile.TemporaryDirectory(prefix="restante-clock-")))
            lines += clock.lines()
        if lines:
            binary = around.enter_context(wrapped(binary, *lines))
        disk = trial.disk() if trial.disk else None
        bed = around.enter_context(Bed(seed, trial.pace, say, binary, trial.flags, trial.replicas, disk))
        bed.clock = clock
        return bed.run(Nemesis(bed, [trial.fault] * count, trial.pause, slack))


def summary(findings):
    """The kinds of which something was found, with the first sentences."""
    return {kind: sentences[:5] for kind, sentences in findings.items() if sentences}

