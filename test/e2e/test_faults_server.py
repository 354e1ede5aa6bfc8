#!/usr/bin/env python3
"""The server is killed; one of two is killed, or freezes in its COMMIT."""

import unittest

from fault_case import FaultCase


class Server(FaultCase):
    def test_killed(self):
        self.run_trial("server_killed")

    def test_one_of_two_killed_or_frozen_in_its_commit(self):
        self.run_trial("replicas")

    def test_killed_with_files_in_a_directory(self):
        self.run_trial("files_in_directory")


if __name__ == "__main__":
    unittest.main()
