"""How much of the machine others used during a measurement, which says whether its figures can be believed."""

import os
import pathlib

from .process_tree import cpu_seconds


def busy_and_all_seconds():
    ticks = [int(part) for part in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    second = os.sysconf("SC_CLK_TCK")
    return (sum(ticks) - ticks[3] - ticks[4]) / second, sum(ticks) / second  # without idle and iowait


def own_seconds(roots):
    """Of the server, of this process and of the load tools that it has run."""
    mine = os.times()
    return cpu_seconds(roots) + mine.user + mine.system + mine.children_user + mine.children_system


class Bystanders:
    """Begins to count when it is made. The kernel's own threads, which write to the disk, count as others."""

    def __init__(self, peer):
        self._peer = peer
        self._before = (*busy_and_all_seconds(), own_seconds(peer.roots()))

    def share(self):
        """Of all cores, from 0 to 1."""
        busy, everything, own = (*busy_and_all_seconds(), own_seconds(self._peer.roots()))
        others = busy - self._before[0] - (own - self._before[2])
        return max(0, others) / max(everything - self._before[1], 1e-9)
