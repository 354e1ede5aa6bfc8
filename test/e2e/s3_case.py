"""Base class of the tests with files in S3: a server that uses the engine which RESTANTE_TEST_S3 describes."""

import os
import secrets
import tempfile

import told_tokens
from content_case import MIB, StoreCase
from forms import PLAIN, form, part
from http_wire import await_true
from s3_client import S3Client, engine
from testbed import upload


class S3Case(StoreCase):
    place = "s3"

    @classmethod
    def prepare_store(cls):
        cls.told = engine()
        print("the S3 engine is", cls.told["S3_ENGINE"], flush=True)
        cls.prefix = "e2e-" + secrets.token_hex(6)
        cls.s3 = S3Client(cls.told)
        cls.addClassCleanup(cls.s3.close)
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="restante-s3-"))
        cls.keys_file = os.path.join(folder, "keys")
        cls.write_keys(told_tokens.remember(cls.told["S3_SECRET_KEY"]))
        cls.store_flags = cls.flags_for(cls.told["S3_ENDPOINT"])

    @classmethod
    def write_keys(cls, secret):
        with open(cls.keys_file, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as keys:
            keys.write(f"access_key = {cls.told['S3_ACCESS_KEY']}\nsecret_key = {secret}\n")

    @classmethod
    def flags_for(cls, endpoint):
        return ("--s3-endpoint", endpoint, "--s3-bucket", cls.told["S3_BUCKET"], "--s3-prefix", cls.prefix,
                "--s3-credentials-file", cls.keys_file)

    # What StoreCase asks for.

    def object(self, key):
        return f"{self.prefix}/{key}"

    def stored_keys(self):
        return {name.removeprefix(self.prefix + "/") for name in self.s3.keys(self.prefix + "/")}

    def lose(self, key):
        self.s3.delete(self.object(key))

    def damage(self, key):
        content = self.s3.get(self.object(key))
        self.s3.put(self.object(key), b"other bytes" + content[11:])

    def plant(self, key, content):
        self.s3.put(self.object(key), content)

    def removals(self):
        """Objects go an hour after their rows; here it has passed."""
        self.db.session.query("UPDATE content_removals SET queued_at = queued_at - interval '2 hours'")
        return super().removals()

    # Helpers.

    def send(self, content):
        return upload(self.server.address, self.workspace, form(part(content)), PLAIN)

    def object_of(self, file):
        return self.object(self.row(file)[1])

    def assert_fetched(self, file, content):
        answer = self.get(self.content_path(file))
        self.assertEqual(answer.status, 200, answer)
        self.assertTrue(answer.body == content, "other bytes")

    def assert_unavailable(self, answer):
        self.assertEqual((answer.status, answer.json()["code"]), (503, "content_store_unavailable"))
        self.assertIn("retry-after", answer.headers)

    def degraded(self):
        answer = self.server.get("/readyz")
        self.assertEqual(answer.status, 200)
        return answer.json().get("degraded", [])

    def await_degraded(self, words):
        await_true(lambda: any(words in each for each in self.degraded()), 60, f"/readyz says {words}")

    def await_sound(self):
        await_true(lambda: not self.degraded(), 60, "/readyz says nothing is degraded")


__all__ = ["MIB", "S3Case"]
