#!/usr/bin/env python3
"""What the page says of an error, without a browser."""

import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

LIB = pathlib.Path(__file__).resolve().parent.parent.parent / "web" / "lib"


class Words(unittest.TestCase):
    def words_for(self, *errors):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(LIB, pathlib.Path(folder, "lib"))
            pathlib.Path(folder, "package.json").write_text('{"type": "module"}')  # as browsers take them
            program = ('import { words_for } from "./lib/words.js";'
                       f"console.log(JSON.stringify({json.dumps(errors)}.map(words_for)));")
            pathlib.Path(folder, "main.js").write_text(program)
            done = subprocess.run(["node", "main.js"], cwd=folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_a_file_whose_bytes_are_lost(self):
        [words] = self.words_for({"status": 500, "code": "content_lost", "body": {}})
        self.assertEqual(words["title"], "The file is lost.")
        self.assertNotIn("Try again", words["advice"])

    def test_a_proxy_that_takes_no_large_bodies(self):
        """Its answer is a page of its own: only the status says what is wrong."""
        ours, proxys = self.words_for({"status": 413, "code": "file_too_large", "body": {"max": 26214400}},
                                      {"status": 413, "code": "unknown", "body": {}})
        self.assertEqual((ours["title"], proxys["title"]), ("Too large.",) * 2)
        self.assertEqual((ours["advice"], proxys["advice"]), ("At most 26.2 MB can be sent here.", "A smaller file can be sent."))


if __name__ == "__main__":
    unittest.main()
