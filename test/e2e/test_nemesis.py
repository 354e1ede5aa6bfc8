#!/usr/bin/env python3
"""A short soak with a fixed seed; `./check soak` runs longer ones."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "soak"))

from bed import Bed  # noqa: E402  (the path comes first)
from neighbours import FLAGS as SMALL  # noqa: E402
from nemesis import Nemesis  # noqa: E402

SEED, SECONDS, PACE = 20_251_116, 50, 0.5
SLACK = 4  # time limits are for a machine that does nothing else


class ShortSoak(unittest.TestCase):
    def test_nothing_is_lost(self):
        print(f"\nseed {SEED}, {SECONDS} s", flush=True)
        with Bed(SEED, PACE, lambda text: print(text, flush=True), flags=SMALL, replicas=2, standby=True,
                 store="directory") as bed:
            findings = bed.run(Nemesis(bed, slack=SLACK), SECONDS)
            stored = sum(upload.told is not None for upload in bed.journal.uploads)
        self.assertEqual({kind: sentences[:5] for kind, sentences in findings.items() if sentences}, {})
        # A run in which hardly anything was stored would prove nothing.
        self.assertGreater(stored, 50)


if __name__ == "__main__":
    unittest.main()
