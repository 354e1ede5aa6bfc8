#!/usr/bin/env python3
"""Files in a real S3 engine: what every store promises, files in parts, and new keys."""

import os
import signal
import unittest

import told_tokens
from content_case import MIB, StorePromises
from forms import PLAIN, form, noise, part
from http_wire import await_true
from s3_case import S3Case
from server_process import Server
from testbed import upload

# ./check soak takes a whole GiB.
LARGE = int(os.environ.get("RESTANTE_LARGE_MIB", "80")) * MIB


class Promises(StorePromises, S3Case):
    def test_bytes_go_after_their_row(self):
        file = self.stage(noise(MIB, 2))
        key = self.row(file)[1]
        self.assertEqual(self.post(self.ack_path(file)).status, 200)
        await_true(lambda: super(S3Case, self).removals() == 1, 60, "the row is gone")
        self.assertIn(key, self.stored_keys())
        await_true(lambda: self.removals() == 0, 60, "the queue is empty")
        self.assertNotIn(key, self.stored_keys())


class Objects(S3Case):
    sweeping = ()
    limits = ("--max-file-bytes", str(LARGE), "--max-request-bytes", str(2 * LARGE), "--workspace-max-bytes", "0")

    def test_files_above_64_mib_are_sent_in_parts(self):
        content = noise(MIB, 4) * (LARGE // MIB - 1) + noise(MIB, 5)
        file = self.stage(content)
        self.assert_fetched(file, content)
        answer = self.get(self.content_path(file), headers=[("Range", f"bytes={32 * MIB - 5}-{32 * MIB + 4}")])
        self.assertTrue(answer.body == content[32 * MIB - 5:32 * MIB + 5])

    def test_changed_objects_are_never_a_whole_answer(self):
        content = noise(2 * MIB, 6)
        for other in (content[:-1], content + b"x", content[:-1] + bytes([content[-1] ^ 1])):
            file = self.stage(content)
            self.s3.put(self.object_of(file), other)
            self.assert_never_whole(file)

    def test_new_keys_are_read_on_sighup_and_never_logged(self):
        self.addCleanup(self.write_keys, self.told["S3_SECRET_KEY"])
        self.write_keys(told_tokens.remember("a-secret-that-is-wrong"))
        self.server.process.send_signal(signal.SIGHUP)
        await_true(lambda: self.send(noise(MIB, 7)).status == 503 and self.degraded(), 60, "the store is refused to us")
        self.await_degraded("credentials")
        self.stage(b"small files go on")
        self.write_keys(self.told["S3_SECRET_KEY"])
        self.server.process.send_signal(signal.SIGHUP)
        self.await_sound()
        self.stage(noise(MIB, 8))

    def test_wrong_keys_end_a_command_and_no_file_is_blamed(self):
        self.stage(noise(MIB, 10))
        self.addCleanup(self.write_keys, self.told["S3_SECRET_KEY"])
        self.write_keys(told_tokens.remember("a-secret-that-is-wrong"))
        for words in (("check",), ("move", "--to", "inline")):
            with self.subTest(words=words):
                code, out, err = self.command(*words)
                self.assertEqual(code, 1)
                self.assertNotRegex(out, "unreadable [0-9a-f]{8}-")
                self.assertIn("restante: the content store `s3` cannot be used", err)
                self.assertIn("credentials", err)

    def test_keys_may_come_from_the_environment(self):
        without_file = self.store_flags[:self.store_flags.index("--s3-credentials-file")]
        keys = {f"RESTANTE_{name}": self.told[name] for name in ("S3_ACCESS_KEY", "S3_SECRET_KEY")}
        content = noise(MIB, 9)
        with Server(self.db.conninfo, "--content-store", "s3", *without_file, environment=keys) as server:
            answer = upload(server.address, self.workspace, form(part(content)), PLAIN)
            self.assertEqual(answer.status, 200, answer)
        self.assert_fetched(answer.json()["files"][0], content)


if __name__ == "__main__":
    unittest.main()
