#!/usr/bin/env python3
"""PostgreSQL's disk is full, for its data or for its WAL."""

import os
import unittest

from fault_case import FaultCase


class DiskFull(FaultCase):
    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("NOT RUN: only root may mount the small tmpfs that this test fills")

    def test_data(self):
        self.run_trial("data_disk_full")

    def test_log(self):
        self.run_trial("wal_disk_full")


if __name__ == "__main__":
    unittest.main()
