#!/usr/bin/env python3
"""The short form of ./check cluster: the three-machine installation of docs/cluster comes up, is switched over and
loses its primary, under two servers and their clients."""

import os
import pathlib
import ssl
import sys
import unittest
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "cluster"), str(HERE / "soak")]

from cluster_bed import ClusterBed  # noqa: E402  (the path comes first)
from cluster_nemesis import ClusterNemesis  # noqa: E402
from events import SHORT  # noqa: E402
from http_wire import await_true  # noqa: E402

SEED, PACE, SLACK = 20_261_118, 3, 5


@unittest.skipIf(os.geteuid() != 0, "machines of their own need root")
class ShortForm(unittest.TestCase):
    def test_switched_over_and_killed(self):
        with ClusterBed(SEED, PACE, lambda text: print(text, flush=True)) as bed:
            self.check_front(bed)
            findings = bed.run(ClusterNemesis(bed, SHORT, SLACK))
        self.assertEqual({kind: sentences[:5] for kind, sentences in findings.items() if sentences}, {})

    def check_front(self, bed):
        """What clients connect to: haproxy, with TLS."""
        untrusting = ssl._create_unverified_context()

        def answers():
            try:
                with urllib.request.urlopen(f"https://{bed.machines[1].address}/readyz", timeout=10,
                                            context=untrusting) as answer:
                    return answer.status == 200
            except OSError:
                return False
        await_true(answers, 30, "haproxy leads to a server that is ready")


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("NOT RUN: machines of their own need root", flush=True)
    unittest.main()
