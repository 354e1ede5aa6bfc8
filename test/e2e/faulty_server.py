"""A server with fault injection: see core/fault_point.hpp."""

import os
import pathlib
import signal
import tempfile
import time

from http_wire import await_true
from server_process import Server

STOPPED_SECONDS = 3


class FaultyServer(Server):
    def __init__(self, database_url, *flags):
        self._orders = tempfile.TemporaryDirectory(prefix="restante-fault-")
        self._order = pathlib.Path(self._orders.name, "order")
        self.restarts = 0
        super().__init__(database_url, *flags, environment={"RESTANTE_FAULT": str(self._order)})

    def close(self, checked=True):
        try:
            super().close(checked)
        finally:
            self._orders.cleanup()

    def wait_quiet(self):
        """Waits until it is ready and the initial sweep is over: from here on every commit is the test's
        own."""
        self.wait_ready()
        await_true(lambda: self.metrics().get("molecule_sweep_duration_seconds_count", 0) > 0, 20, "the first sweep")

    def order(self, action, point, hit=1):
        """Written under another name and renamed, so that no half-written order is read."""
        written = self._order.with_suffix(".new")
        written.write_text(f"{point} {action} {hit}\n")
        written.rename(self._order)

    def meet_fault(self, action, within=20):
        """Waits for the fault, checks that it was the one ordered, and reacts as an operator would (restart,
        SIGCONT)."""
        process = self.process
        await_true(lambda: not self._order.exists(), within, "the fault happens")
        if action == "kill":
            if process.wait(timeout=within) != -signal.SIGKILL:
                raise AssertionError(f"ended by itself, with {process.returncode}:\n{self.log_text()[-3000:]}")
            process.stdout.close()
            self.start()
            self.restarts += 1
        elif action == "stop":
            await_true(self._is_stopped, within, "the process is stopped")
            time.sleep(STOPPED_SECONDS)
            os.kill(process.pid, signal.SIGCONT)

    def faults(self):
        """The faults so far, as logged by the server: (point, action)."""
        lines = [line for line in self.log_lines() if line["event"] == "fault_point"]
        return [(line["point"], line["action"]) for line in lines]

    def _is_stopped(self):
        with open(f"/proc/{self.process.pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "T"
