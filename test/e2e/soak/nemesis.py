"""Injects faults into a soak, one at a time: at random, determined by the seed, or one fault a number of
times."""

import random
import threading

from faults import MISSED, Faults
from http_wire import await_true

# Faults of a soak with two servers → weight. Each ends by itself and leaves nothing behind.
AT_RANDOM = {
    "kill_server": 3,
    "terminate_one_session": 2,
    "terminate_all_sessions": 1,
    "restart_postgres": 1,
    "kill_backend": 0.5,
    "kill_postgres": 0.5,
    "cut_database_links": 2,
    "strike_at_commit": 5,
    "half_open_database": 1,
    "slow_database": 1,
    "cut_clients": 2,
    "half_open_client_lines": 1,
    "slow_client_lines": 1,
    "abort_clients": 1,
    "freeze_server_in_commit": 1,
    "stall_standby": 0.5,
    "stall_standby_for_long": 0.2,
    "lock_workspace": 0.4,
    "hoard_memory": 0.4,
    "crowd_out": 0.4,
}
RECOVERY = 40  # seconds; a client's longest timeout, so that no response is given up before


class Nemesis(threading.Thread):
    def __init__(self, bed, plan=None, pause=(0.3, 2.0), slack=1):
        """`plan` holds names of faults, in order; without one they are chosen at random for as long as the
        bed runs. `slack` multiplies the time limits, for machines under other load."""
        super().__init__(name="nemesis", daemon=True)
        self.bed = bed
        self.random = random.Random(f"{bed.seed} nemesis")
        self.faults = Faults(bed, self.random, slack)
        self.done = {}  # fault → count
        self.failure = None
        self._plan, self._pause = plan, pause

    def run(self):
        try:
            for name in self._plan or self._choose():
                if self.bed.stop.wait(self.random.uniform(*self._pause)):
                    return
                self.bed.say(f"nemesis: {name}")
                stored = self.bed.journal.stored
                if getattr(self.faults, name)() is not MISSED:
                    self.done[name] = self.done.get(name, 0) + 1
                self._await_progress(name, stored)
        except Exception as failure:
            self.failure = failure

    def _choose(self):
        while True:
            yield self.random.choices(list(AT_RANDOM), list(AT_RANDOM.values()))[0]

    def _await_progress(self, name, stored):
        """Uploads must make progress after every fault. If they don't, nothing is lost, but a promise is
        broken."""
        try:
            await_true(lambda: self.bed.journal.stored > stored or self.bed.stop.is_set(), RECOVERY, "stored")
        except AssertionError:
            self.bed.journal.violate("late", f"no upload was stored within {RECOVERY} s after {name}")
