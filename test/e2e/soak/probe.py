"""Single timed requests: how a server responds during a fault."""

import itertools
import time

from clients import LOST, Uploader
from forms import CHROME, form, part
from journal import File, Upload


class Probe(Uploader):
    """Sends requests to one server, bypassing the proxy, on demand; never started as a thread. Its uploads
    are in the journal like all others."""

    def __init__(self, name, bed, replica, timeout=30):
        super().__init__(name, bed)
        self.replica, self.timeout = replica, timeout
        self._numbers = itertools.count()

    def address(self):
        return self.replica.server.address

    def upload(self, workspace=None, keyed=False):
        """One small upload, once, without a key unless asked: (status, seconds); the status is 0 if there was
        no response."""
        begun = time.monotonic()
        upload, body = self._form(workspace, f"{self.name}-{next(self._numbers)}" if keyed else None)
        self.attempt(upload, body)
        return upload.answers[-1], time.monotonic() - begun

    def upload_until_stored(self, workspace, within=60):
        """One with a key, retried: seconds until 200, or None if it never came."""
        begun = time.monotonic()
        upload, body = self._form(workspace, f"{self.name}-{next(self._numbers)}")
        while time.monotonic() - begun < within:
            if not self.attempt(upload, body):
                return time.monotonic() - begun
            time.sleep(0.1)
        return None

    def poll(self, workspace, wait):
        """A parked poll for rows of a type that nobody writes: seconds until the response."""
        begun = time.monotonic()
        try:
            self.ask(workspace, "GET", f"/activity?since_seq=0&type=error&wait={wait}", timeout=self.timeout)
        except LOST:
            pass  # only the time matters
        return time.monotonic() - begun

    def _form(self, workspace, key):
        number = next(self._numbers)
        file = File(f"{self.name}-{number}.bin", 1000, f"{self.bed.seed} {self.name} {number}")
        upload, content = Upload(workspace or self.bed.workspaces[0], key, [file]), file.content()
        self.journal.add(upload, [content])
        return upload, form(part(content, file.name, "application/x-soak"), boundary=CHROME)
