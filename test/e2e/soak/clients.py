"""The clients of a soak: each is a thread that works until it is told to stop and then completes its pending
work."""

import hashlib
import json
import random
import threading
import time

from forms import CHROME, form, part
from http_wire import Wire, request_head
from journal import File, Upload
from testbed import upload_head
from websocket_client import Closed, WebSocket

KIB, MIB = 1024, 1024 * 1024
LOST = (OSError, ValueError)  # the connection was lost, or ended within a response


class Client(threading.Thread):
    def __init__(self, name, bed):
        super().__init__(name=name, daemon=True)
        self.bed = bed
        self.journal = bed.journal
        self.random = random.Random(f"{bed.seed} {name}")
        self.failure = None

    def run(self):
        try:
            self.work()
        except Exception as failure:  # reported by the driver; a dead client must not look like an idle one
            self.failure = failure

    def address(self):
        """Where the next connection is made."""
        return self.bed.address

    def stopping(self):
        return self.bed.stop.is_set()

    def patient(self):
        """Whether there is still time to complete pending work."""
        return not self.bed.give_up.is_set()

    def ask(self, workspace, method, target, body=None, timeout=30):
        """One request on its own connection. Raises one of LOST if there is no complete response."""
        headers = [("Host", "localhost"), ("Authorization", f"Bearer {workspace.token}"), ("Connection", "close")]
        if body is not None:
            headers += [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        with Wire(self.address(), timeout=timeout) as wire:
            wire.send(request_head(method, f"/workspaces/{workspace.id}{target}", headers) + (body or b""))
            return wire.read_answer()

    def unexpected(self, answer, what):
        if answer.status not in (503, 408):
            self.journal.violate("refused", f"{what}: {answer}")


class Uploader(Client):
    """Sends forms of every size. Most carry a key and are retried until there is a definite response; some
    carry none and are sent once."""

    timeout = 40

    def work(self):
        for number in range(1_000_000):
            if self.bed.stop.wait(self.random.uniform(0, 2 * self.bed.pace)):
                return
            self.send(number)

    def send(self, number):
        files = [File(f"{self.name}-{number}-{i}.bin", size, f"{self.bed.seed} {self.name} {number} {i}")
                 for i, size in enumerate(self.sizes())]
        key = f"{self.name}-{number}" if self.random.random() < 0.85 else None
        upload = Upload(self.random.choice(self.bed.workspaces), key, files)
        contents = [file.content() for file in files]
        self.journal.add(upload, contents)
        parts = [part(content, file.name, "application/x-soak") for file, content in zip(files, contents)]
        body = form(*parts, boundary=CHROME)
        while self.attempt(upload, body) and key and self.patient():
            time.sleep(self.random.uniform(0.02, 0.3))

    def attempt(self, upload, body):
        """Returns whether to retry."""
        headers = [("Idempotency-Key", upload.key)] if upload.key else []
        try:
            with Wire(self.address(), timeout=self.timeout) as wire:
                head = upload_head(upload.workspace, CHROME, len(body), headers)
                wire.send_what_is_taken([head, body])
                answer = wire.read_answer()
                told = answer.json()
        except LOST:
            upload.answers.append(0)
            upload.in_doubt = True
            return True
        upload.answers.append(answer.status)
        if answer.status == 200:
            self.journal.tell(upload, [file["file_id"] for file in told["files"]])
            self.compare(upload, told["files"])
            return False
        if answer.status == 409:
            return True
        if told.get("stored") == "unknown":
            upload.in_doubt = True
        self.unexpected(answer, f"upload {upload.key}")
        return answer.status == 503

    def compare(self, upload, told):
        expected = [(file.name, file.size, digest) for file, digest in zip(upload.files, upload.digests)]
        answered = [(file["name"], file["size"], file["sha256"]) for file in told]
        if answered != expected:
            self.journal.violate("truncated", f"the answer to {upload.key} names other files: {answered}")

    def sizes(self):
        few, many = self.random.randint(2, 4), self.random.randint(5, 64)
        (count,) = self.random.choices((1, few, many), (75, 20, 5))
        if count > 4:
            return [self.random.randint(1, 20 * KIB) for _ in range(count)]
        scales = {2 * KIB: 40, 50 * KIB: 35, 300 * KIB: 15, 2 * MIB: 8, 12 * MIB: 1.6}
        (scale,) = self.random.choices(list(scales), list(scales.values()))
        if count == 1 and scale > 2 * MIB:
            scale = 26_214_400
        return [self.random.choice((1, self.random.randint(1, scale), scale)) for _ in range(count)]


class Poller(Client):
    """Follows one workspace's feed by cursor, as an agent does, and records every row. Every file is put into
    `found`."""

    def __init__(self, name, bed, workspace, limit, found=None):
        super().__init__(name, bed)
        self.workspace, self.limit, self.found = workspace, limit, found
        self.cursor = None
        self.last_seq = 0

    def work(self):
        while not (self.stopping() and self.caught_up()) and self.patient():
            try:
                self.poll()
            except LOST:
                time.sleep(0.05)

    def caught_up(self):
        return self.bed.settled.is_set() and self.last_seq >= self.bed.heads.get(self.workspace.id, 0)

    def poll(self):
        # since_seq=0 is the start; from the first row on the cursor is an id.
        after = f"since_id={self.cursor}" if self.cursor else "since_seq=0"
        wait = self.random.choice((0, 1, 2)) if not self.stopping() else 0
        answer = self.ask(self.workspace, "GET", f"/activity?{after}&limit={self.limit}&wait={wait}")
        if answer.status == 410:
            self.journal.violate("lost", f"{self.name}: the cursor {self.cursor} is not known any more")
            self.cursor = None
        if answer.status != 200:
            self.unexpected(answer, f"{self.name} polls")
            time.sleep(0.1)
            return
        rows = answer.json()
        if not rows:
            time.sleep(0.05)
            return
        noted = [(row["id"], row["seq"], row["workspace_id"], (row.get("request_body") or {}).get("name"))
                 for row in rows]
        self.journal.saw(self.name, noted)
        self.cursor, self.last_seq = rows[-1]["id"], rows[-1]["seq"]
        if self.found:
            for row in rows:
                self.found.put((self.workspace, row["request_body"]))


class Listener(Client):
    """Keeps a WebSocket open for one workspace, and reconnects when it breaks. Events are hints, so some may
    be missing; none may be wrong."""

    def __init__(self, name, bed, workspace):
        super().__init__(name, bed)
        self.workspace = workspace

    def work(self):
        for number in range(1_000_000):
            if self.stopping():
                return
            try:
                with WebSocket(self.address(), self.workspace.token) as opened:
                    if opened.answer.status == 101:
                        self.listen(opened, (self.name, number))
                    elif opened.answer.status != 503:
                        self.journal.violate("refused", f"{self.name}: {opened.answer.status} to a WebSocket")
            except (*LOST, Closed):
                pass
            time.sleep(0.1)

    def listen(self, opened, socket):
        while not self.stopping():
            event = opened.next_event(within=5)
            if event["event"] != "ACTIVITY_LOGGED":
                continue  # no row of the feed
            payload = event["payload"]
            self.journal.hear(socket, (payload["id"], payload["seq"], event["workspace_id"]))


class Collector(Client):
    """Fetches the files that a poller found, compares every byte with what was sent, and acks."""

    def __init__(self, name, bed, found):
        super().__init__(name, bed)
        self.found = found

    def work(self):
        while self.patient():
            try:
                workspace, file = self.found.get(timeout=0.2)
            except self.bed.empty:
                if self.stopping() and self.bed.polled.is_set():
                    return
                continue
            self.collect(workspace, file)

    def collect(self, workspace, file):
        target = f"/pending-uploads/{file['file_id']}"
        answer = self.insist(workspace, "GET", target + "/content")
        if answer is None:
            return
        size, digest = self.journal.digests[file["name"]]
        if answer.status == 404:
            self.journal.violate("lost", f"{file['name']} is in the feed and cannot be fetched")
            return
        if len(answer.body) != size or hashlib.sha256(answer.body).hexdigest() != digest:
            self.journal.violate("truncated", f"{file['name']}: {len(answer.body)} of {size} bytes fetched")
        self.journal.fetched += 1
        answer = self.insist(workspace, "POST", target + "/ack", b"")
        if answer is None:
            return
        if answer.status != 200 or answer.json().get("acked") is not True:
            self.journal.violate("lost", f"{file['name']} cannot be acked: {answer}")
            return
        with self.journal.guard:
            self.journal.acked.add(file["file_id"])

    def insist(self, workspace, method, target, body=None):
        """Retries until a response other than 503; None when time is up."""
        while self.patient():
            try:
                answer = self.ask(workspace, method, target, body)
                if answer.status != 503:
                    return answer
            except (*LOST, json.JSONDecodeError):
                pass
            time.sleep(0.1)
        return None
