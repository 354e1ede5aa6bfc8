#!/usr/bin/env python3
"""Clients that disconnect, that are slow, that outnumber the descriptors, that send more than fits into
memory."""

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
