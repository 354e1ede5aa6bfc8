"""The page in a real browser: test/e2e/node/page has the scripts, one for each thing that people do or see."""

import os
import pathlib
import subprocess
import tempfile
import threading
import unittest

from identity_case import IdentityCase
from server_process import BINARY, Server, release_binary
from test_node_clients import FOLDER, install

# Screenshots are kept beside the binary under test.
PICTURES = pathlib.Path(BINARY).resolve().parent / "page"


class PageCase(IdentityCase):
    @classmethod
    def setUpClass(cls):
        install()
        super().setUpClass()

    def run_script(self, name, server=None):
        """Runs a script with a workspace of its own; it prints what it has found and fails if that is wrong. A line
        `server: what` asks for something to be done to the server, and is answered when that is done."""
        server = server or self.server
        workspace, token = self.register()
        with tempfile.TemporaryFile("w+") as trouble, subprocess.Popen(
                ["node", f"page/{name}.mjs"], cwd=FOLDER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=trouble,
                text=True, env={**os.environ, "BASE": "http://%s:%d" % server.address, "ADMIN": self.admin,
                                "WORKSPACE": workspace, "TOKEN": token, "PICTURES": str(PICTURES)}) as script:
            alarm = threading.Timer(400, script.kill)
            alarm.start()
            try:
                for line in script.stdout:
                    print(line, end="")
                    if line.startswith("server: "):
                        getattr(server, line.split()[1])()
                        script.stdin.write("done\n")
                        script.stdin.flush()
                script.wait()
            finally:
                alarm.cancel()
                script.kill()
            trouble.seek(0)
            self.assertEqual(script.returncode, 0, trouble.read())


class Page(PageCase):
    def test_sending_and_receiving_in_two_windows(self):
        self.run_script("two_windows")

    def test_trouble_has_words_and_passes(self):
        self.run_script("trouble")

    def test_trouble_of_those_who_hold_a_token(self):
        self.run_script("inbox_trouble")

    def test_any_address_and_from_view_to_view(self):
        self.run_script("addresses")

    def test_text_stays_text_and_tokens_stay_put(self):
        self.run_script("safety")

    def test_everything_works_with_the_keyboard(self):
        self.run_script("keyboard")

    def test_looks_right_in_every_scheme_and_width(self):
        self.run_script("looks")

    def test_codes_can_be_read(self):
        self.run_script("qr")


class KeptAddress(Server):
    """Started again, it listens where it did."""

    def start(self):
        super().start()
        self._command[self._command.index("--listen") + 1] = "%s:%d" % self.address


class Restart(PageCase):
    def test_views_survive_a_restart(self):
        server = KeptAddress(self.db.conninfo, "--admin-token-file", self._admin_file.name, *self.flags)
        self.run_script("restart", self.enterContext(server).wait_ready())


class Speed(PageCase):
    binary = release_binary()

    def test_first_view_and_a_thousand_events(self):
        self.run_script("speed")


if __name__ == "__main__":
    unittest.main()
