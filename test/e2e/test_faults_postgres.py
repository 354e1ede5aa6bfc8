#!/usr/bin/env python3
"""PostgreSQL is killed, one process of it or all; sessions are ended by somebody else; its disks are full. The last takes
root, because a small disk has to be mounted: without, this says NOT RUN, and ctest counts it as skipped."""

import os
import unittest

from fault_case import FaultCase


class Killed(FaultCase):
    def test_a_backend_and_all_of_it(self):
        self.run_trial("postgres_killed")

    def test_sessions_ended(self):
        self.run_trial("sessions_ended")


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
