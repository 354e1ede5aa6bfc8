#!/usr/bin/env python3
"""The server is killed, frozen, has a neighbour that dies, and its clock jumps."""

import unittest

from fault_case import FaultCase


class Server(FaultCase):
    def test_killed(self):
        self.run_trial("server_killed")

    def test_one_of_two_killed_or_frozen_in_its_commit(self):
        self.run_trial("replicas")

    def test_clock_jumps_by_a_day_and_an_hour(self):
        self.run_trial("clock")


if __name__ == "__main__":
    unittest.main()
