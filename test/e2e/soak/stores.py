"""Where the servers of a soak put the bytes of files, and how the checker looks at them without the servers' help."""

import contextlib
import hashlib
import os
import pathlib
import secrets
import tempfile

from s3_client import S3Client, engine

# Most files of a soak are small; a third of them leaves its row.
SMALL_FILES = ("--content-inline-max", "20KiB")


class Inline(contextlib.ExitStack):
    """No store: all bytes are in rows."""

    flags = ()

    def keys(self):
        return set()

    def digest(self, key):
        return None


class Directory(contextlib.ExitStack):
    """One directory for all servers: this one, or a new one."""

    def __init__(self, folder=None):
        super().__init__()
        if not folder:
            folder = os.path.join(self.enter_context(tempfile.TemporaryDirectory(prefix="restante-content-")), "content")
        self.folder = pathlib.Path(folder)
        self.flags = ("--content-store", "directory", "--content-dir", str(self.folder), *SMALL_FILES)

    def keys(self):
        return {f"{file.parent.name}/{file.name}" for file in self.folder.glob("*/*")}

    def digest(self, key):
        try:
            return hashlib.sha256((self.folder / key).read_bytes()).hexdigest()
        except FileNotFoundError:
            return None


class Objects(contextlib.ExitStack):
    """A prefix of its own in the engine that RESTANTE_TEST_S3 describes."""

    def __init__(self):
        super().__init__()
        told = engine()
        self.prefix = "soak-" + secrets.token_hex(6)
        self._client = self.enter_context(contextlib.closing(S3Client(told)))
        keys = os.path.join(self.enter_context(tempfile.TemporaryDirectory(prefix="restante-s3-")), "keys")
        with open(keys, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(f"access_key = {told['S3_ACCESS_KEY']}\nsecret_key = {told['S3_SECRET_KEY']}\n")
        self.flags = ("--content-store", "s3", "--s3-endpoint", told["S3_ENDPOINT"], "--s3-bucket", told["S3_BUCKET"],
                      "--s3-prefix", self.prefix, "--s3-credentials-file", keys, *SMALL_FILES)

    def keys(self):
        return {name.removeprefix(self.prefix + "/") for name in self._client.keys(self.prefix + "/")}

    def digest(self, key):
        content = self._client.get(f"{self.prefix}/{key}")
        return None if content is None else hashlib.sha256(content).hexdigest()


STORES = {"inline": Inline, "directory": Directory, "s3": Objects}
