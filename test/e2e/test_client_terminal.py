"""What the client shows on a terminal: bars while it works, none afterwards, and nothing of the kind elsewhere."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import time
import unittest

import forms
from client_case import ClientCase
from client_process import CLIENT, Home
from proxy import Proxy
from screen import Screen

BAR = re.compile(r"\[[#.]+\] +\d+%  [\d.]+ \w+ of [\d.]+ \w+")


class Session:
    """A command on a terminal, and every screen that differs from the one before."""

    def __init__(self, home, *words, columns=100, rows=24, stdout=None, **variables):
        self.screen = Screen(columns, rows)
        self.screens = []
        self.raw = b""
        self._interrupted = False
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        env = {**home.variables, "TERM": "xterm", **variables}
        self.process = subprocess.Popen([CLIENT, *words], stdin=theirs, stdout=stdout or theirs, stderr=theirs, env=env,
                                        cwd=home.path, start_new_session=True)
        os.close(theirs)

    def interrupt(self):
        """Once: a second signal ends it at once."""
        if not self._interrupted:
            self._interrupted = True
            self.process.send_signal(signal.SIGINT)

    def run(self, on_screen=lambda text: None):
        alarm = threading.Timer(60, self.process.kill)
        alarm.start()
        try:
            while piece := os.read(self._ours, 65536):
                self.raw += piece
                self.screen.feed(piece.decode(errors="replace"))
                self.screens.append(self.screen.text())
                on_screen(self.screen.text())
        except OSError:
            pass  # the terminal ends with its last user
        alarm.cancel()
        os.close(self._ours)
        return self.process.wait()


class Terminal(ClientCase):
    def setUp(self):
        super().setUp()
        self.line = self.enterContext(Proxy(self.server.address))
        self.home.variables["RESTANTE_SERVER"] = self.url(("127.0.0.1", self.line.port))
        self.line.conditions.bandwidth = 3_000_000

    def test_a_bar_appears_moves_and_disappears(self):
        self.send_files(forms.noise(3_000_000, 1), names=["photo.jpg"])
        session = Session(self.home, "pull", "--once")
        self.assertEqual(session.run(), 0)
        bars = [text for text in session.screens if BAR.search(text)]
        self.assertGreater(len(bars), 3)
        self.assertTrue(all(text.startswith("photo.jpg") for text in bars), bars[0])
        shares = [int(re.search(r"(\d+)%", text).group(1)) for text in bars]
        self.assertEqual(shares, sorted(shares))
        self.assertTrue(any("/s" in text and " left" in text for text in bars), bars)
        self.assertEqual(session.screen.text(), f"{self.home.inbox}/photo.jpg")
        self.assertEqual(session.screen.unknown, [])

    def test_several_files_have_a_bar_each_and_one_for_the_whole(self):
        self.send_files(*(forms.noise(1_500_000, number) for number in range(3)), names=["a.bin", "b.bin", "c.bin"])
        session = Session(self.home, "pull", "--once")
        self.assertEqual(session.run(), 0)
        self.assertTrue(any(len(BAR.findall(text)) == 3 and "under way" in text for text in session.screens))
        self.assertEqual(sorted(session.screen.text().splitlines()),
                         [f"{self.home.inbox}/{name}.bin" for name in "abc"])

    def test_a_narrow_terminal_has_no_line_that_wraps(self):
        self.send_files(*(forms.noise(1_000_000, number) for number in range(2)), names=["x" * 90, "y" * 90])
        session = Session(self.home, "pull", "--once", columns=40, stdout=subprocess.DEVNULL)
        self.assertEqual(session.run(), 0)
        self.assertTrue(any("%" in text for text in session.screens))
        self.assertTrue(all(len(text.splitlines()) <= 3 for text in session.screens), session.screens[-1])
        self.assertEqual(session.screen.text(), "")

    def test_no_color_means_no_color(self):
        self.send_files(forms.noise(1_000_000, 1))
        colored = Session(self.home, "pull", "--once")
        colored.run()
        self.assertIn(b"\x1b[32m", colored.raw)
        self.send_files(forms.noise(1_000_000, 2))
        plain = Session(self.home, "pull", "--once", NO_COLOR="1")
        plain.run()
        self.assertNotIn(b"\x1b[32m", plain.raw)
        self.assertTrue(any(BAR.search(text) for text in plain.screens))

    def test_no_bars_for_programs_files_and_dumb_terminals(self):
        for words, how in ((("--json",), {}), ((), {"TERM": "dumb"})):
            self.send_files(forms.noise(1_000_000, len(words)))
            session = Session(self.home, "pull", "--once", *words, **how)
            session.run()
            self.assertNotIn(b"\x1b", session.raw)
        self.send_files(forms.noise(1_000_000, 9))
        done = self.home.run("pull", "--once")
        self.assertEqual((done.code, done.stderr), (0, ""))
        self.assertNotIn("\x1b", done.stdout)

    def test_send_has_bars_too(self):
        (self.home.path / "big.bin").write_bytes(forms.noise(3_000_000, 1))
        session = Session(self.home, "send", "big.bin")
        self.assertEqual(session.run(), 0)
        self.assertTrue(any(text.startswith("big.bin") and BAR.search(text) for text in session.screens))
        self.assertRegex(session.screen.text(), r"^platform-pending:\S+$")

    def test_the_file_that_is_sent_has_the_bar_and_the_whole_has_the_rest(self):
        names = [f"f{number}.bin" for number in range(12)]
        for name in names:
            (self.home.path / name).write_bytes(forms.noise(400_000, 1))
        session = Session(self.home, "send", *names)
        self.assertEqual(session.run(), 0)
        shown = [text.splitlines() for text in session.screens if BAR.search(text)]
        self.assertTrue(all(len(lines) == 2 and len(BAR.findall(lines[0])) == 1 for lines in shown), shown[-1])
        self.assertTrue(any(lines[0].startswith("f11.bin") and lines[1].startswith("11 done, 1 under way  ")
                            for lines in shown), shown[-1])
        self.assertTrue(all(" of 4.6 MiB" in lines[1] for lines in shown), shown[0])

    def test_what_waits_to_be_fetched_is_in_the_whole(self):
        self.send_files(*(forms.noise(700_000, number) for number in range(6)))
        session = Session(self.home, "pull", "--once", "--parallel", "2")
        self.assertEqual(session.run(), 0)
        self.assertTrue(any("2 under way, 4 waiting" in text and " of 4.0 MiB" in text for text in session.screens))

    def test_a_terminal_with_few_lines_keeps_none_of_the_bars(self):
        self.send_files(*(forms.noise(700_000, number) for number in range(6)))
        session = Session(self.home, "pull", "--once", "--parallel", "6", rows=4, stdout=subprocess.DEVNULL)
        self.assertEqual(session.run(), 0)
        self.assertTrue(any(len(BAR.findall(text)) == 2 and "under way" in text for text in session.screens))
        self.assertEqual(session.screen.text(), "")

    def test_what_a_command_writes_stays(self):
        self.send_files(b"x", forms.noise(4_000_000, 1), names=["small.txt", "large.bin"])
        command = 'for i in 1 2 3 4 5; do echo "$RESTANTE_NAME $i"; sleep 0.15; done'
        session = Session(self.home, "pull", "--once", "--exec", command)
        self.assertEqual(session.run(), 0)
        expected = [line for name in ("small.txt", "large.bin")
                    for line in (*(f"{name} {number}" for number in range(1, 6)), f"{self.home.inbox}/{name}")]
        self.assertEqual(session.screen.text().splitlines(), expected)

    def test_an_interrupt_leaves_a_clean_screen(self):
        self.line.conditions.bandwidth = 500_000
        self.send_files(forms.noise(3_000_000, 1), names=["photo.jpg"])
        session = Session(self.home, "pull")
        self.assertEqual(session.run(lambda text: BAR.search(text) and session.interrupt()), 130)
        self.assertEqual(session.screen.text(), "")


if __name__ == "__main__":
    unittest.main()
