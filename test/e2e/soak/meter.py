"""Detects growth of a server: its memory and its descriptors over a run."""

import itertools
import statistics
import threading
import time

MIB = 1024 * 1024
EVERY = 1.0  # seconds between two samples
BUCKET = 30.0  # seconds; only the lowest sample counts: memory in use by a request is not growth
WARM_UP = 0.25  # of the run: pools, buffers and the allocator's arenas reach their size
MOST_GROWTH = 1.0  # MiB per hour
LONG_ENOUGH = 1800.0  # seconds; in less, warm-up and allocator noise dominate
MOST_DESCRIPTORS = 2


class Meter(threading.Thread):
    def __init__(self, server):
        super().__init__(name="meter", daemon=True)
        self._server = server
        self._ended = threading.Event()
        self.samples = []  # (seconds since the start, resident bytes, descriptors)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self.join()

    def run(self):
        begun = time.monotonic()
        while not self._ended.wait(EVERY):
            self.samples.append((time.monotonic() - begun, self._server.resident_bytes(),
                                  len(self._server.descriptors())))

    def slope(self):
        """MiB per hour."""
        return slope(self._floors(1)) * 3600 / MIB

    def is_long_enough(self):
        """Whether the run is long enough to judge memory; descriptors can always be judged."""
        return bool(self.samples) and self.samples[-1][0] >= LONG_ENOUGH

    def descriptors(self):
        """The minimum right after the warm-up and the one at the end."""
        floors = [floor for _, floor in self._floors(2)]
        third = max(1, len(floors) // 3)
        return min(floors[:third]), min(floors[-third:])

    def findings(self):
        found = []
        if self.is_long_enough() and self.slope() > MOST_GROWTH:
            found.append(f"memory grows by {self.slope():.1f} MiB an hour")
        before, after = self.descriptors()
        if after > before + MOST_DESCRIPTORS:
            found.append(f"descriptors went from {before} to {after}")
        return found

    def sentence(self):
        before, after = self.descriptors()
        first, last = self._floors(1)[0], self._floors(1)[-1]
        return (f"memory {self.slope():+.2f} MiB an hour after warm-up ({first[1] / MIB:.1f} MiB at "
                f"{first[0]:.0f} s, {last[1] / MIB:.1f} MiB at {last[0]:.0f} s), descriptors {before} and {after}"
                + ("" if self.is_long_enough() else "; too short a run to judge memory by"))

    def write(self, path):
        with open(path, "w") as file:
            file.write("seconds,resident_bytes,descriptors\n")
            for seconds, resident, descriptors in self.samples:
                file.write(f"{seconds:.1f},{resident},{descriptors}\n")

    def _floors(self, column):
        """(time, lowest value) of every bucket after the warm-up."""
        if not self.samples:
            raise AssertionError("the run was too short to be measured")
        start = self.samples[-1][0] * WARM_UP
        warm = [sample for sample in self.samples if sample[0] >= start]
        buckets = itertools.groupby(warm, key=lambda sample: int(sample[0] / BUCKET))
        return [(number * BUCKET, min(sample[column] for sample in samples)) for number, samples in buckets]


def slope(points):
    """The median of the slopes between all pairs of points (Theil–Sen): robust against an odd bucket."""
    slopes = [(late[1] - early[1]) / (late[0] - early[0]) for early, late in itertools.combinations(points, 2)]
    return statistics.median(slopes) if slopes else 0.0
