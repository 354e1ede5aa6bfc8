"""What clients did and what they were told: one side of the comparison. The other side is the database."""

import dataclasses
import hashlib
import random
import threading
import time


@dataclasses.dataclass(frozen=True)
class File:
    name: str  # unique in a run, so it identifies the file everywhere
    size: int
    seed: str

    def content(self):
        return random.Random(self.seed).randbytes(self.size)


@dataclasses.dataclass
class Upload:
    """One form that a client wants stored, however often it has to send it."""

    workspace: object
    key: str | None
    files: list
    told: list | None = None  # file ids of the 200, in order
    in_doubt: bool = False  # an attempt ended without a definite response
    answers: list = dataclasses.field(default_factory=list)  # statuses, 0 for a lost connection
    digests: list = dataclasses.field(default_factory=list)

    def verdict(self):
        if self.told is not None:
            return "stored"
        return "unknown" if self.in_doubt else "not stored"


class Journal:
    """Shared by all clients. Violations are observations of a client that no server may cause."""

    def __init__(self):
        self.guard = threading.Lock()
        self.uploads = []
        self.seen = {}  # poller → list of (activity id, seq, workspace id, file name or None)
        self.heard = {}  # (listener, index of its socket) → list of (activity id, seq, workspace id)
        self.digests = {}  # file name → (size, sha256) of what was sent
        self.stored = 0  # uploads that were answered with 200
        self.fetched = 0
        self.acked = set()
        self.violations = []  # (kind, sentence)
        self.begun = time.monotonic()

    def add(self, upload, contents):
        self.add_digests(upload, [hashlib.sha256(content).hexdigest() for content in contents])

    def add_digests(self, upload, digests):
        upload.digests = digests
        with self.guard:
            self.uploads.append(upload)
            for file, digest in zip(upload.files, upload.digests):
                self.digests[file.name] = (file.size, digest)

    def tell(self, upload, file_ids):
        with self.guard:
            upload.told = file_ids
            self.stored += 1

    def saw(self, poller, rows):
        with self.guard:
            self.seen.setdefault(poller, []).extend(rows)

    def hear(self, socket, row):
        with self.guard:
            self.heard.setdefault(socket, []).append(row)

    def violate(self, kind, sentence):
        with self.guard:
            self.violations.append((kind, f"{time.monotonic() - self.begun:.2f} s: {sentence}"))
