#!/usr/bin/env python3
"""`restante content check` and `move` as an operator meets them: with wrong settings, on a terminal, killed, run twice."""

import json
import os
import pty
import subprocess
import tempfile
import unittest

import test_content_directory
from content_case import KIB, MIB
from forms import PLAIN, form, noise, part
from http_wire import await_true
from server_process import BINARY, run_command
from testbed import upload


class CommandCase(test_content_directory.DirectoryCase):
    sweeping = ()

    def setUp(self):
        super().setUp()
        self.db.session.query("DELETE FROM pending_uploads")

    def places(self):
        return [row[0] for row in self.db.session.query("SELECT content_place FROM pending_uploads ORDER BY 1")]


class WrongSettings(CommandCase):
    def test_a_directory_that_is_not_there_is_not_made(self):
        """Every file would be missing in an empty one, and nobody would find what was moved there."""
        self.stage(noise(MIB, 1))
        wrong = self.folder / "wrong"
        for words in (("check",), ("check", "--repair"), ("move", "--to", "directory")):
            with self.subTest(words=words):
                code, out, err = run_command("content", *words, "--database-url", self.db.conninfo, "--content-dir", str(wrong))
                self.assertEqual((code, out), (1, ""))
                self.assertIn(f"--content-dir {wrong} is not there", err)
                self.assertFalse(wrong.exists())

    def test_where_nothing_is_found_the_settings_are_asked_about(self):
        files = [self.stage(noise(MIB, seed)) for seed in (12, 13)]
        told = "None of the files in the content store `directory` is there. Are these the settings of the server?\n"
        with tempfile.TemporaryDirectory() as other:
            code, out, err = run_command("content", "check", "--database-url", self.db.conninfo, "--content-dir", other)
        self.assertEqual((code, err), (1, told), out)
        self.lose(self.row(files[0])[1])
        code, out, err = self.command("check")
        self.assertEqual((code, err, out.splitlines()[0]), (1, "", f"missing {files[0]['file_id']}"))

    def test_a_store_that_is_not_set_up_is_named(self):
        self.stage(noise(MIB, 2))
        with tempfile.TemporaryDirectory() as elsewhere:
            for words, told in ((("check",), "`directory` is not set up here: it takes the server's --content-dir"),
                                (("move", "--to", "inline"), "`directory` is not set up here: it takes the server's --content-dir"),
                                (("move", "--to", "s3"), "`s3` is not set up here: it takes the server's --s3-endpoint and --s3-bucket")):
                with self.subTest(words=words):
                    code, _, err = run_command("content", *words, "--database-url", self.db.conninfo, "--data-dir", elsewhere)
                    self.assertEqual(code, 1)
                    self.assertIn(f"restante: the content store {told}", err)
        self.assertEqual(self.places(), ["directory"])

    def test_where_there_is_no_server_data_nothing_is_made(self):
        with tempfile.TemporaryDirectory() as empty:
            for words in (("check",), ("move", "--to", "directory")):
                code, out, err = run_command("content", *words, "--data-dir", empty)
                self.assertEqual((code, out), (1, ""))
                self.assertIn(f"there is no server data in {empty}", err)
            self.assertEqual(os.listdir(empty), [])


class Moving(CommandCase):
    def test_what_cannot_be_moved_is_named(self):
        sound, lost, large = self.stage(noise(MIB, 3)), self.stage(noise(MIB, 4)), self.stage(noise(30 * MIB, 5))
        self.damage(self.row(lost)[1])
        code, out, err = self.command("move", "--to", "inline", "--json")
        self.assertEqual((code, err), (1, ""))
        self.assertEqual(json.loads(out), {"moved": 1, "too_large": [large["file_id"]], "lost": [lost["file_id"]],
                                           "unreadable": []})
        self.assertEqual(self.row(sound)[0], "inline")
        code, out, _ = self.command("move", "--to", "inline")
        self.assertEqual((code, out), (1, f"too_large {large['file_id']}\nlost {lost['file_id']}\n"
                                          "moved 0\ntoo_large 1\nlost 1\nunreadable 0\n"))

    def test_a_dry_run_counts_and_moves_nothing(self):
        large = self.stage(noise(30 * MIB, 14))
        self.stage(noise(MIB, 15))
        self.stage(b"small")
        for how, told in (((), f"too_large {large['file_id']}\nwould_move 1\nbytes {MIB}\ntoo_large 1\n"),
                          (("--json",), f'{{"would_move":1,"bytes":{MIB},"too_large":["{large["file_id"]}"]}}\n')):
            self.assertEqual(self.command("move", "--to", "inline", "--dry-run", *how), (0, told, ""))
        self.assertEqual(self.places(), ["directory", "directory", "inline"])

    def test_killed_and_run_again(self):
        contents = [noise(5 * MIB, seed) for seed in range(6)]
        files = [self.stage(content) for content in contents]
        self.assertEqual(self.command("move", "--to", "inline")[0], 0)
        command = [BINARY, "content", "move", "--to", "directory", "--database-url", self.db.conninfo, *self.store_flags]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as move:
            await_true(lambda: "directory" in self.places(), 60, "some are moved")
            move.kill()
        code, out, err = self.command("move", "--to", "directory", "--json")
        self.assertEqual((code, err), (0, ""), out)
        self.assertEqual(self.places(), ["directory"] * len(files))
        for file, content in zip(files, contents):
            self.assertTrue(self.get(self.content_path(file)).body == content)
        self.assertEqual(json.loads(self.command("move", "--to", "directory", "--json")[1])["moved"], 0)


class OnATerminal(CommandCase):
    def run_on_terminal(self, *words):
        """The exit code, stdout, and what the terminal that is stderr was told."""
        ours, theirs = pty.openpty()
        command = [BINARY, "content", *words, "--database-url", self.db.conninfo, *self.store_flags]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, text=True) as process:
            os.close(theirs)
            shown = b""
            try:
                while piece := os.read(ours, 65536):
                    shown += piece
            except OSError:
                pass  # the terminal ends with its last user
            os.close(ours)
            return process.wait(), process.stdout.read(), shown.decode()

    def test_a_bar_follows_the_bytes_and_is_taken_away(self):
        self.stage(noise(300 * KIB, 6))
        self.stage(noise(30 * MIB, 7))
        for words, doing in ((("check",), "checking"), (("move", "--to", "directory"), "moving")):
            code, out, shown = self.run_on_terminal(*words)
            self.assertEqual(code, 0, shown)
            self.assertNotIn("\x1b", out)
            self.assertTrue(shown.startswith(f"\r{doing} [{'.' * 30}] 0/2 files, 0 bytes of 30 MiB\x1b[K"), shown)
            self.assertRegex(shown, "\r\x1b\\[K$")
        self.assertIn("looking for bytes without a row in directory: 0", self.run_on_terminal("check")[2])

    def test_programs_get_none(self):
        self.stage(noise(MIB, 8))
        code, out, shown = self.run_on_terminal("check", "--json")
        self.assertEqual((code, json.loads(out)["files"], shown), (0, 1, ""))


class Removed(CommandCase):
    """A directory that goes while the server runs, and comes back."""

    def trouble(self):
        return self.server.get("/readyz").json().get("degraded", [])

    def test_it_is_noticed_and_used_again_when_it_is_there(self):
        content = noise(MIB, 9)
        file = self.stage(content)
        kept = self.folder / "kept"
        subprocess.run(["cp", "-a", self.content, kept], check=True)
        subprocess.run(["rm", "-r", self.content], check=True)
        await_true(self.trouble, 60, "the server notices")
        self.assertRegex(self.trouble()[0], "^content store: the directory cannot be written: No such file")
        self.assertEqual(self.send(noise(MIB, 10)), 503)
        self.stage(b"small files go on")
        kept.rename(self.content)
        await_true(lambda: not self.trouble(), 60, "the server uses it again")
        self.assertTrue(self.get(self.content_path(file)).body == content)
        self.stage(noise(MIB, 11))
        self.assertEqual(self.check()[0], 0)

    def send(self, content):
        return upload(self.server.address, self.workspace, form(part(content)), PLAIN).status


if __name__ == "__main__":
    unittest.main()
