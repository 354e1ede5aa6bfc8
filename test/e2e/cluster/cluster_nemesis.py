"""Does what happens to the cluster, one thing after the other, and measures each."""

import threading
import time

from events import OWN_FAULT, Events
from outage import Outage

SHARE, ANSWER = 1, 10  # seconds: a server's share of an outage, and its slowest answer
CALM = 3


class ClusterNemesis(threading.Thread):
    def __init__(self, bed, names, slack):
        super().__init__(name="nemesis", daemon=True)
        self.bed, self._names, self._slack = bed, names, slack
        self.done, self.failure, self.figures = {}, None, []

    def run(self):
        try:
            with Outage(self.bed) as outage:
                events = Events(self.bed, outage)
                outage.wait_for_all(60)
                for name in self._names:
                    self._measure(name, events, outage)
        except Exception as failure:
            self.failure = failure

    def _measure(self, name, events, outage):
        # From here on, so that what the event before has left without an answer is not counted for this one.
        calm = time.monotonic()
        time.sleep(CALM)
        begun, stored = time.monotonic(), self.bed.journal.stored
        getattr(events, name)()
        ended = time.monotonic()
        self.bed.patroni.await_whole()
        self.bed.await_served(30)
        database = outage.database.longest_gap(begun, ended)
        servers = [successes.longest_gap(begun, ended) for successes in outage.servers]
        slowest = outage.slowest_answers(calm)
        self.done[name] = self.done.get(name, 0) + 1
        self.bed.say(f"{name}: no commit for {database:.1f} s; no 200 of server 1 (three hosts) for {servers[0]:.1f} s, "
                     f"of server 2 (haproxy) for {servers[1]:.1f} s; slowest answers {slowest[0]:.1f} s and "
                     f"{slowest[1]:.1f} s; "
                     f"{self.bed.journal.stored - stored} uploads stored meanwhile")
        for i, gap in enumerate(servers):
            if OWN_FAULT.get(name) != i:
                self._judge(f"{name}: server {i + 1}", gap - database, slowest[i])

    def _judge(self, who, share, slowest):
        if share > SHARE * self._slack:
            self.bed.journal.violate("late", f"{who} had a share of {share:.1f} s in the outage")
        if slowest > ANSWER * self._slack:
            self.bed.journal.violate("late", f"{who} left a request without an answer for {slowest:.1f} s")
