#!/usr/bin/env python3
"""A synchronous standby stalls; one workspace is locked; clients hoard memory; noisy neighbours."""

import unittest

from fault_case import FaultCase


class Attacked(FaultCase):
    def test_standby(self):
        self.run_trial("standby")

    def test_locked_workspace(self):
        self.run_trial("locked_workspace")

    def test_hoarders(self):
        self.run_trial("hoarders")

    def test_neighbours(self):
        self.run_trial("neighbours")


if __name__ == "__main__":
    unittest.main()
