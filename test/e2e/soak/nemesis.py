"""What goes wrong in a soak, one thing at a time, chosen by the seed."""

import random
import threading
import time

from pg_proxy import Strike


class Nemesis(threading.Thread):
    def __init__(self, bed):
        super().__init__(name="nemesis", daemon=True)
        self.bed = bed
        self.random = random.Random(f"{bed.seed} nemesis")
        self.done = {}  # what → how often
        self.failure = None
        self._faults = {  # what → how likely
            self.kill_server: 3,
            self.terminate_backends: 3,
            self.restart_postgres: 1,
            self.cut_database_links: 2,
            self.strike_at_commit: 5,
            self.half_open_database: 1,
            self.cut_clients: 2,
            self.slow_database: 1,
        }

    def run(self):
        try:
            while not self.bed.stop.wait(self.random.uniform(0.3, 2.0)):
                fault = self.random.choices(list(self._faults), list(self._faults.values()))[0]
                name = fault.__name__
                self.bed.say(f"nemesis: {name}")
                fault()
                self.done[name] = self.done.get(name, 0) + 1
        except Exception as failure:
            self.failure = failure

    def kill_server(self):
        self.bed.server.kill()
        time.sleep(self.random.uniform(0, 0.5))
        self.bed.restart_server()

    def terminate_backends(self):
        """One session of the server, or all of them."""
        limit = self.random.choice(("LIMIT 1", ""))
        with self.bed.session() as session:
            session.query("SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity WHERE "
                          f"application_name LIKE 'restante%' ORDER BY random() {limit}) AS victims")

    def restart_postgres(self):
        self.bed.cluster.stop(self.random.choice(("immediate", "fast")))
        time.sleep(self.random.uniform(0, 1.5))
        self.bed.cluster.start()

    def cut_database_links(self):
        self.bed.database_proxy.cut(reset=self.random.random() < 0.5)

    def strike_at_commit(self):
        self.bed.database_proxy.arm(self.random.choice(list(Strike)))
        self.bed.database_proxy.struck.wait(3)

    def half_open_database(self):
        self.bed.database_proxy.conditions.half_open = True
        time.sleep(self.random.uniform(0.5, 3))
        self.bed.database_proxy.cut()
        self.bed.database_proxy.conditions.half_open = False

    def cut_clients(self):
        for _ in range(self.random.randint(1, 5)):
            self.bed.client_proxy.cut(reset=self.random.random() < 0.5)
            time.sleep(self.random.uniform(0, 0.2))

    def slow_database(self):
        line = self.bed.database_proxy.conditions
        line.latency, line.slice = self.random.uniform(0.001, 0.02), self.random.choice((None, 700, 9000))
        time.sleep(self.random.uniform(0.5, 2))
        line.latency, line.slice = 0.0, None
