#!/usr/bin/env python3
"""The clock of the server jumps by a day and an hour, forward and back."""

import unittest

from fault_case import FaultCase


class Clock(FaultCase):
    def test_jumps(self):
        self.run_trial("clock")


if __name__ == "__main__":
    unittest.main()
