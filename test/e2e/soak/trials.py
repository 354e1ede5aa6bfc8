"""The table of faults: what is done how often, in ./check and in full, and in which environment. Each row is
a separate run under load, followed by a count of what is missing."""

import contextlib
import dataclasses
import pathlib
import tempfile

from bed import Bed
from control_group import control_group
from disks import DataDisk, WalDisk
from neighbours import FLAGS as SMALL
from nemesis import Nemesis
from server_process import BINARY, is_sanitized, release_binary
from surroundings import Clock, wrapped

PAUSE = (0.05, 0.4)  # seconds between two faults
NO_DESCRIPTORS = pathlib.Path(__file__).with_name("no_descriptors.supp")  # suppressions for the sanitizer


@dataclasses.dataclass(frozen=True)
class Trial:
    faults: dict  # fault → (count in a full run, count in ./check)
    replicas: int = 1
    flags: tuple = ()
    pace: float = 0.25
    disk: object = None  # creates the small disk
    descriptors: int | None = None
    memory: int | None = None  # bytes
    clock: bool = False
    standby: bool = False
    store: str = "inline"
    measured: bool = False  # against the release build if there is one: a sanitizer distorts the figures

    def plan(self, full):
        return [fault for fault, counts in self.faults.items() for _ in range(counts[0 if full else 1])]


TRIALS = {
    "server_killed": Trial({"kill_server": (100, 10)}),
    "replicas": Trial({"kill_server": (20, 4), "freeze_server_in_commit": (10, 2),
                       "freeze_server_for_long": (5, 1)}, replicas=2),
    "files_in_directory": Trial({"kill_server": (50, 5), "strike_at_commit": (50, 5), "kill_backend": (10, 1),
                                 "cut_database_links": (20, 2)}, replicas=2, store="directory"),
    "clock": Trial({"jump_clock": (10, 3)}, clock=True),
    "postgres_killed": Trial({"kill_backend": (20, 3), "kill_postgres": (10, 2)}),
    "sessions_ended": Trial({"terminate_one_session": (250, 40), "terminate_all_sessions": (50, 5),
                             "half_open_database": (5, 1)}),
    "postgres_stopped": Trial({"stop_postgres": (1, 0)}),
    "data_disk_full": Trial({"fill_disk": (3, 1)}, disk=lambda: DataDisk("400m")),
    "wal_disk_full": Trial({"fill_disk": (3, 1)}, disk=lambda: WalDisk("200m")),
    "descriptors": Trial({"more_clients_than_descriptors": (10, 2), "run_out_of_descriptors": (10, 2)},
                         descriptors=160, flags=("--db-connections", "4")),
    "clients_gone": Trial({"abort_clients": (100, 8)}),  # 50 at a time
    "slow_clients": Trial({"crowd_of_slow_clients": (1, 0), "small_crowd_of_slow_clients": (0, 1)}),
    "memory": Trial({"crowd_of_large_uploads": (1, 0), "small_crowd_of_large_uploads": (0, 1)},
                    memory=512 * 2**20, pace=2),
    "standby": Trial({"stall_standby": (20, 2), "stall_standby_for_long": (5, 1)}, replicas=2, standby=True),
    "locked_workspace": Trial({"lock_workspace": (10, 1)}),
    "hoarders": Trial({"hoard_memory": (10, 1)}, flags=SMALL, measured=True),
    "neighbours": Trial({"crowd_out": (10, 1)}, flags=SMALL, measured=True),
}


def run_trial(name, full, seed, say, slack=1, store=None):
    """Returns the findings by kind. With `store`, files are there instead of where the table says."""
    trial = TRIALS[name]
    with contextlib.ExitStack() as around:
        clock = Clock(around.enter_context(tempfile.TemporaryDirectory())) if trial.clock else None
        group = around.enter_context(control_group(trial.memory)) if trial.memory else None
        binary = around.enter_context(_surrounded(trial, clock, group, say))
        disk = trial.disk() if trial.disk else None
        bed = around.enter_context(Bed(seed, trial.pace, say, binary, trial.flags, trial.replicas, disk, clock,
                                      trial.standby, store or trial.store))
        findings = bed.run(Nemesis(bed, trial.plan(full), PAUSE, slack))
        if group and group.peak():
            say(group.report())
        return findings


def _surrounded(trial, clock, group, say):
    """The server in the environment of a trial. Trials of memory do not work with a sanitizer, so
    these use the release build if there is one."""
    binary, lines = BINARY, clock.lines() if clock else []
    if trial.memory or trial.measured:
        binary = release_binary() or BINARY
    if trial.descriptors:
        lines += [f"ulimit -n {trial.descriptors}",
                  f'export UBSAN_OPTIONS="$UBSAN_OPTIONS:suppressions=\'{NO_DESCRIPTORS}\'"']
    if trial.memory:
        if is_sanitized(binary):
            say("without a limit on memory: sanitizers need more than that for themselves")
        elif group:
            lines += group.lines()
        else:
            say("no control group can be made here: the limit is on the data of the process")
            lines.append(f"ulimit -d {trial.memory // 1024}")
    return wrapped(binary, *lines)
