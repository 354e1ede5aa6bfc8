#!/usr/bin/env python3
"""The clock of the server jumps by a day and an hour, forward and back."""

import unittest

from fault_case import FaultCase
from server_process import BINARY, is_sanitized, release_binary


class Clock(FaultCase):
    def test_jumps(self):
        if is_sanitized(release_binary() or BINARY):
            self.skipTest("NOT RUN: libfaketime and AddressSanitizer do not mix; this takes a release build, by cmake "
                          "--build --preset release or in RESTANTE_RELEASE_BIN")
        self.run_trial("clock")


if __name__ == "__main__":
    unittest.main()
