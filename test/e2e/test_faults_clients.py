#!/usr/bin/env python3
"""Clients that leave, that dawdle, that are more than there are descriptors, that send more than there is memory."""

import unittest

from fault_case import FaultCase


class Clients(FaultCase):
    def test_gone(self):
        self.run_trial("clients_gone")

    def test_slow(self):
        self.run_trial("slow_clients")

    def test_more_than_descriptors(self):
        self.run_trial("descriptors")

    def test_more_than_memory(self):
        self.run_trial("memory")


if __name__ == "__main__":
    unittest.main()
