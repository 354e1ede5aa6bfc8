"""Many misbehaving clients at once: they disconnect, trickle, hold connections, or send more than fits into
memory. Their uploads are in the journal, so that the checker can verify the outcome."""

import collections
import concurrent.futures
import hashlib
import itertools
import socket
import struct
import time

from clients import LOST
from forms import CHROME, form, noise, part
from http_wire import Wire, request_head
from journal import File, Upload
from testbed import upload_head

KIB, MIB = 1024, 1024 * 1024
_numbers = itertools.count()


def _wire(bed):
    return Wire(bed.steady.server.address, timeout=60)


def make(bed, workspace, size):
    """One upload of one file without a key: (upload, head and body)."""
    name = f"crowd-{next(_numbers)}.bin"
    file = File(name, size, f"{bed.seed} {name}")
    upload, content = Upload(workspace, None, [file]), file.content()
    bed.journal.add(upload, [content])
    body = form(part(content, name, "application/x-soak"), boundary=CHROME)
    return upload, upload_head(workspace, CHROME, len(body)) + body


def read_answer(bed, upload, wire):
    """200, 0 for a lost connection, or the status and code of an error."""
    try:
        answer = wire.read_answer()
    except LOST:
        upload.answers.append(0)
        upload.in_doubt = True
        return 0
    upload.answers.append(answer.status)
    if answer.status == 200:
        bed.journal.tell(upload, [file["file_id"] for file in answer.json()["files"]])
        return 200
    told = answer.json()
    upload.in_doubt = told.get("stored") == "unknown"
    return f"{answer.status} {told['code']}"


def abort(bed, random, count):
    """Clients that disconnect, by FIN or reset: in the head, in the body, after the last byte, or out of a
    parked poll. An incomplete upload must not be stored."""
    def leave(choice):
        kind, part_sent, reset, size, workspace = choice
        upload = None
        if kind == "poll":
            data = request_head("GET", f"/workspaces/{workspace.id}/activity?since_seq=0&type=error&wait=20",
                                [("Host", "localhost"), ("Authorization", f"Bearer {workspace.token}")])
        else:
            upload, whole = make(bed, workspace, size)
            data = whole if kind == "whole" else whole[:int(len(whole) * part_sent)]
            # In doubt only if everything was sent: it may have been stored, and nobody reads the response.
            upload.in_doubt = kind == "whole"
        with _wire(bed) as wire:
            wire.send_what_is_taken([data])
            if reset:
                wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    choices = [(random.choices(("part", "whole", "poll"), (7, 2, 1))[0], random.random() ** 2,
                random.random() < 0.5, random.choice((100, 10 * KIB, 300 * KIB)), random.choice(bed.workspaces))
               for _ in range(count)]
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        for _ in pool.map(leave, choices):
            pass


def drip(faults, count, seconds):
    """Concurrent uploads that arrive at 2 KiB a second. All are stored in the end, and meanwhile an ordinary
    client is not affected."""
    bed, rate = faults.bed, 2 * KIB
    senders = []
    try:
        for number in range(count):
            upload, data = make(bed, bed.workspaces[number % len(bed.workspaces)], rate * seconds)
            senders.append((upload, data, _wire(bed)))
        slowest = 0
        for at in range(0, len(senders[0][1]) + rate, rate):
            begun = time.monotonic()
            for _, data, wire in senders:
                wire.send_what_is_taken([data[at:at + rate]])
            status, took = faults.probe.upload()
            slowest = max(slowest, took)
            if status != 200:
                bed.journal.violate("refused", f"{status} for a client beside {count} slow ones")
            time.sleep(max(0, 1 - (time.monotonic() - begun)))
        statuses = collections.Counter(read_answer(bed, upload, wire) for upload, _, wire in senders)
    finally:
        for _, _, wire in senders:
            wire.close()
    faults.limit(f"an upload beside {count} slow clients", slowest, 2)
    if set(statuses) != {200}:
        bed.journal.violate("refused", f"slow clients heard {dict(statuses)}")
    bed.say(f"{count} slow clients for {seconds} s: {dict(statuses)}; slowest other upload {slowest:.2f} s")


def hold_open(bed, count, seconds):
    """More connections than the server may have descriptors. Those that do not fit wait."""
    wires = [_wire(bed) for _ in range(count)]
    try:
        most, end = 0, time.monotonic() + seconds
        while time.monotonic() < end:
            most = max(most, len(bed.steady.server.descriptors()))
            time.sleep(0.1)
        bed.say(f"{count} connections: {most} descriptors in use at most")
    finally:
        for wire in wires:
            wire.close()


def send_large(faults, count, size=25_000_000):
    """Concurrent uploads of two such files each. The bytes differ only at the start, so that they take no
    memory here either. None may be refused for want of room. Where other tests use the disk too, PostgreSQL may
    need more than the seconds after which the server gives it up: then the client tries again."""
    bed, base = faults.bed, noise(size - 8, faults.bed.seed)

    def send(_):
        for _ in range(faults.slack):
            heard = send_once()
            if heard != "503 platform_unavailable":
                break
        return heard

    def send_once():
        number, workspace = next(_numbers), bed.workspaces[0]
        leads = [struct.pack("!II", number, turn) for turn in range(2)]
        files = [File(f"large-{number}-{turn}.bin", size, "") for turn in range(2)]
        upload = Upload(workspace, None, files)
        bed.journal.add_digests(upload, [hashlib.sha256(lead + base).hexdigest() for lead in leads])
        frame = form(*[part(b"\x00MARK\x00", file.name) for file in files], boundary=CHROME)
        head, middle, tail = frame.split(b"\x00MARK\x00")
        length = len(head) + len(middle) + len(tail) + 2 * size
        with Wire(bed.steady.server.address, timeout=300) as wire:
            wire.send_what_is_taken([upload_head(workspace, CHROME, length), head, leads[0], base, middle,
                                     leads[1], base, tail])
            return read_answer(bed, upload, wire)

    begun = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        statuses = collections.Counter(pool.map(send, range(count)))
    peak = bed.steady.server.resident_bytes(peak=True)
    bed.say(f"{count} uploads of {2 * size / 1e6:.0f} MB at once: {dict(statuses)} in "
            f"{time.monotonic() - begun:.0f} s; peak resident memory {peak / MIB:.0f} MiB")
    if set(statuses) != {200}:
        bed.journal.violate("refused", f"large uploads heard {dict(statuses)}")
