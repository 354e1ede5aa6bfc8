"""Ordinary clients beside a fault that should not concern them: small uploads to several workspaces, one after
another at an even pace. Each must be stored, and quickly."""

import collections
import itertools
import threading

from probe import Probe

PAUSE = 0.1  # seconds between two uploads to a workspace
_numbers = itertools.count()


class Bystanders:
    def __init__(self, faults, but=None):
        """They upload to all workspaces of the bed but one."""
        self._faults, self._bed, self._ended = faults, faults.bed, threading.Event()
        self._heard = []  # (status, seconds)
        self._threads = [threading.Thread(target=self._upload, args=(workspace,), daemon=True)
                         for workspace in self._bed.workspaces if workspace is not but]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def judge(self, beside, most):
        """Reports what was not stored, or took longer than `most` seconds; returns the figures in words."""
        statuses = collections.Counter(status for status, _ in self._heard)
        slowest = max((seconds for _, seconds in self._heard), default=None)
        # On a machine with other work a database connection may be waited for in vain.
        tolerated = statuses[503] if self._faults.slack > 1 and statuses[503] * 20 <= len(self._heard) else 0
        if statuses[200] + tolerated < len(self._heard):
            self._bed.journal.violate("refused", f"uploads beside {beside} heard {dict(statuses)}")
        self._faults.limit(f"an upload beside {beside}", slowest, most)
        return f"others' uploads {dict(statuses)}, the slowest {slowest or 0:.2f} s"

    def _upload(self, workspace):
        probe = Probe(f"bystander{next(_numbers)}", self._bed, self._bed.steady)
        while not self._ended.wait(PAUSE):
            self._heard.append(probe.upload(workspace))
