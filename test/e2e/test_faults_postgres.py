#!/usr/bin/env python3
"""PostgreSQL is killed, one process or all of them; sessions are terminated by others."""

import unittest

from fault_case import FaultCase


class Postgres(FaultCase):
    def test_killed(self):
        self.run_trial("postgres_killed")

    def test_sessions_ended(self):
        self.run_trial("sessions_ended")


if __name__ == "__main__":
    unittest.main()
