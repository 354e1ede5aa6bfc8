#!/usr/bin/env python3
"""However a benchmark ends, nothing that bench/harness.py has started is left: no server, no PostgreSQL, no files."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

from http_wire import await_true
from server_process import BINARY

BENCH = pathlib.Path(__file__).resolve().parent.parent.parent / "bench"

PROGRAM = """
import os, signal, subprocess, sys
import harness
harness.STOP_SECONDS = 20
def main():
    with harness.running_server(binary=sys.argv[1]) as server:
        print(server.process.pid, server.postmaster, server.data, flush=True)
        {body}
harness.run_main(main)
"""


def state_of(pid):
    """As ps shows it; nothing when there is no such process."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return ""


def is_running(pid):
    return state_of(pid) not in ("", "Z")


class Ending(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="restante-e2e-")))

    def begin(self, body, binary=os.path.abspath(BINARY)):
        process = subprocess.Popen([sys.executable, "-c", PROGRAM.format(body=body), binary], text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True, env={**os.environ, "PYTHONPATH": str(BENCH)})
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def started(self, process):
        server, postmaster, data = process.stdout.readline().split()
        return (server, postmaster), pathlib.Path(data).parent

    def assert_nothing_is_left(self, process, code, begun, *words):
        started, folder = begun
        _, said = process.communicate(timeout=120)
        self.assertEqual(process.returncode, code, said)
        for word in words:
            self.assertIn(word, said)
        self.assertNotIn("Traceback", said)
        self.assertFalse(any(is_running(pid) for pid in started), said)
        self.assertFalse(folder.exists(), said)

    def test_a_program_that_fails_is_one_sentence(self):
        process = self.begin("subprocess.run(['sh', '-c', 'echo why >&2; exit 7'], check=True, capture_output=True)")
        self.assert_nothing_is_left(process, 1, self.started(process), "bench: sh ended with 7\nwhy\n")

    def test_signals(self):
        for number, code in ((signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)):
            with self.subTest(signal=number):
                process = self.begin("signal.pause()")
                begun = self.started(process)
                process.send_signal(number)
                self.assert_nothing_is_left(process, code, begun)

    def test_a_second_signal_does_not_break_it_off(self):
        process = self.begin("os.kill(server.process.pid, signal.SIGSTOP); signal.pause()")
        begun = self.started(process)
        server = begun[0][0]
        await_true(lambda: state_of(server) == "T", 20, "the server is suspended")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.stderr.readline(), "stopping what was started …\n")
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            process.send_signal(number)
        os.kill(int(server), signal.SIGCONT)
        self.assert_nothing_is_left(process, 143, begun)

    def test_a_signal_while_it_stops_does_not_break_it_off(self):
        process = self.begin("os.kill(server.process.pid, signal.SIGSTOP); print('ending', file=sys.stderr); sys.exit('over')")
        begun = self.started(process)
        self.assertEqual(process.stderr.readline(), "ending\n")
        process.send_signal(signal.SIGTERM)
        os.kill(int(begun[0][0]), signal.SIGCONT)
        self.assert_nothing_is_left(process, 143, begun)

    def test_a_server_that_does_not_stop_is_killed_with_its_database(self):
        process = self.begin("harness.STOP_SECONDS = 1; os.kill(server.process.pid, signal.SIGSTOP); sys.exit('over')")
        self.assert_nothing_is_left(process, 1, self.started(process), "over", "is killed")

    def test_a_server_that_crashed_leaves_no_database(self):
        process = self.begin("server.process.kill(); server.process.wait(); sys.exit('over')")
        self.assert_nothing_is_left(process, 1, self.started(process), "over")

    def test_a_server_that_is_still_starting(self):
        """Nobody but the constructor knows of it."""
        slow, told = self.folder / "slow", self.folder / "pid"
        slow.write_text(f"#!/bin/sh\necho $$ >{told}.part && mv {told}.part {told}\nexec sleep 600\n")
        slow.chmod(0o755)
        process = self.begin("pass", binary=str(slow))
        await_true(told.exists, 20, "the server is started")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 143)
        self.assertFalse(is_running(told.read_text().strip()))

    def test_a_server_that_does_not_start(self):
        process = self.begin("pass", binary="/bin/false")
        _, said = process.communicate(timeout=60)
        self.assertEqual((process.returncode, said), (1, "bench: the server did not start:\n\n"))

    def test_a_benchmark_that_is_a_program_of_its_own_gets_the_time_to_end(self):
        ended = self.folder / "ended"
        own = f"trap 'sleep 1; touch {ended}; exit 0' TERM; echo begun >&2; while :; do sleep 0.1; done"
        process = self.begin(f"harness.read_output(['bash', '-c', {own!r}])")
        begun = self.started(process)
        self.assertEqual(process.stderr.readline(), "begun\n")
        process.send_signal(signal.SIGTERM)
        self.assert_nothing_is_left(process, 143, begun)
        self.assertTrue(ended.exists())


if __name__ == "__main__":
    unittest.main()
