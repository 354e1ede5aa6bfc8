"""The client's documents and service files against the program."""

import os
import pathlib
import plistlib
import re
import subprocess
import tempfile
import threading
import unittest

import told_tokens
from client_process import CLIENT
from server_case import ServerCase
from server_process import BINARY

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = SOURCE / "docs" / "client.md"
SERVICE = SOURCE / "client" / "service"


def source_text():
    return "\n".join(path.read_text() for path in (SOURCE / "client").glob("*.cpp"))


class Documents(unittest.TestCase):
    def test_the_table_has_every_flag_and_no_other(self):
        real = {}
        for verb in ("pull", "send", "login"):
            text = subprocess.run([CLIENT, verb, "--help"], capture_output=True, text=True, check=True).stdout
            for flag in re.findall(r"^  (--[a-z-]+)", text, re.MULTILINE):
                real.setdefault(flag, set()).add(verb)
        told = {}
        for flag, verbs in re.findall(r"^\| `(--[a-z-]+)[^`]*` \| ([a-z, ]+) \|", PAGE.read_text(), re.MULTILINE):
            told[flag] = {"pull", "send", "login"} if verbs == "all" else set(verbs.split(", "))
        self.assertEqual(told, real)

    def test_every_event_and_code_is_documented(self):
        text = PAGE.read_text()
        events, codes = re.search(r"\| event \|.*?\n\n", text, re.DOTALL), re.search(r"\| code \|.*?\n\n", text, re.DOTALL)
        told_events = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| ([^|]*) \|", events.group(), re.MULTILINE))))
        real_events = set(re.findall(r'out\w*\.(?:data|note|trouble)\(\s*"(\w+)"', source_text()))
        self.assertGreater(len(real_events), 10)
        self.assertEqual(real_events | {"fetched", "acked"}, told_events)
        told_codes = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| ([^|]*) \|", codes.group(), re.MULTILINE))))
        real_codes = set(re.findall(r'(?:exit_code::\w+,|lie\(|wrong\(|command_failure\()\s*"(\w+)"', source_text()))
        self.assertGreater(len(real_codes), 20)
        self.assertEqual(real_codes - told_codes, set())

    def test_no_jump_of_the_wall_clock_is_seen(self):
        self.assertIn("steady_clock", source_text())
        for path in (SOURCE / "client").glob("*.?pp"):
            self.assertNotRegex(path.read_text(), r"system_clock|gettimeofday|CLOCK_REALTIME|\btime\(", path.name)

    def test_systemd_and_launchd_can_read_the_services(self):
        text = (SERVICE / "restante-pull.service").read_text()
        self.assertIn("%h/.local/bin/restante-client", text)
        with tempfile.TemporaryDirectory() as folder:
            unit = pathlib.Path(folder, "restante-pull.service")
            unit.write_text(text.replace("%h/.local/bin/restante-client", os.path.abspath(CLIENT)))
            done = subprocess.run(["systemd-analyze", "--user", "verify", str(unit)], capture_output=True, text=True,
                                  timeout=60, env={**os.environ, "XDG_RUNTIME_DIR": folder})
            self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))
        plist = plistlib.loads((SERVICE / "restante-pull.plist").read_bytes())
        self.assertIn("restante-client pull ", plist["ProgramArguments"][2])
        self.assertNotIn("/tmp/", str(plist), "which others may write to")


class TwoTerminals(ServerCase):
    def test_the_readmes_second_walk_works_as_it_is_written(self):
        blocks = re.findall(r"^```bash\n(.*?)^```$", (SOURCE / "README.md").read_text(), re.MULTILINE | re.DOTALL)
        self.assertEqual(len(blocks), 2)
        with tempfile.TemporaryDirectory(prefix="restante-walk-") as home:
            env = {"HOME": home, "PATH": f"{os.path.dirname(os.path.abspath(BINARY))}:{os.environ['PATH']}",
                   "RESTANTE_SERVER": "http://%s:%d" % self.server.address}
            first = subprocess.Popen(["bash", "-euc", blocks[0].rstrip().replace("restante pull", "exec restante pull")],
                                     env=env, cwd=home, stdout=subprocess.PIPE, text=True)
            alarm = threading.Timer(60, first.kill)
            alarm.start()
            try:
                self.assertRegex(first.stdout.readline(), r"^[0-9a-f-]{36}\n$")  # login is done
                told_tokens.remember(pathlib.Path(home, ".config/restante/token").read_text().strip())
                done = subprocess.run(["bash", "-euc", blocks[1]], env=env, cwd=home, capture_output=True, text=True,
                                      timeout=60)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                said = [first.stdout.readline(), first.stdout.readline()]
                self.assertEqual(said, [f"{os.path.realpath(home)}/inbox/hello.txt\n", "A file for you\n"])
            finally:
                alarm.cancel()
                first.terminate()
                first.wait(timeout=20)
                first.stdout.close()


if __name__ == "__main__":
    unittest.main()
