"""Base class of the fault tests in ./check: rows of the soak's table, with small counts and generous timeouts
for a machine that runs other tests as well."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "soak"))

from trials import run_trial  # noqa: E402  (the path comes first)

SEED, SLACK = 20_251_116, 4


class FaultCase(unittest.TestCase):
    def run_trial(self, name):
        print(f"\n{name}, seed {SEED}", flush=True)
        findings = run_trial(name, False, SEED, lambda text: print(text, flush=True), SLACK)
        self.assertEqual({kind: sentences[:5] for kind, sentences in findings.items() if sentences}, {})
