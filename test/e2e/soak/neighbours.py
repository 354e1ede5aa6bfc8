"""One workspace, and strangers, take what they can get: memory, database connections, disk, places. All others are
served as if they were alone."""

import collections
import concurrent.futures
import contextlib
import itertools
import json
import time
import uuid

import crowds
from bystanders import Bystanders
from clients import LOST
from forms import CHROME
from http_wire import Wire, request_head
from server_process import is_sanitized
from testbed import upload_head

KIB, MIB = 1024, 1024 * 1024
BUDGET = 32 * MIB
# Small limits, so that a small crowd reaches them. The spool holds two of the largest requests.
FLAGS = ("--body-memory", str(BUDGET), "--spool-limit", "110000000", "--max-connections", "300")
OTHERS_WITHIN = 2  # seconds for an upload
GROWTH = BUDGET + 16 * 4 * MIB  # resident bytes: each of the database connections has a buffer of its own
IN_A_ROW = 8  # requests on one connection: the kernel takes the first answers
ROWS = 200


def hoard_memory(faults, seconds, count):
    """Clients ask for large pages and small files and do not read; strangers begin JSON bodies and do not end
    them."""
    bed, server = faults.bed, faults.bed.steady.server
    _add_rows(bed)
    file = _store(bed, MIB - KIB)
    before = server.forget_peak()
    with contextlib.ExitStack() as held, Bystanders(faults) as others:
        for _ in range(count):
            _hold(held, bed, _head(bed, "GET", "/activity?since_seq=0&limit=500") * IN_A_ROW)
            _hold(held, bed, _head(bed, "GET", f"/pending-uploads/{file}/content") * IN_A_ROW)
            _hold(held, bed, _half_registration())
        time.sleep(seconds)
    grown = server.resident_bytes(peak=True) - before
    told = others.judge("hoarders of memory", OTHERS_WITHIN)
    if grown > GROWTH and not is_sanitized(f"/proc/{server.process.pid}/exe"):
        bed.journal.violate("refused", f"memory grew by {grown / MIB:.0f} MiB, at most {GROWTH / MIB:.0f} are allowed")
    bed.say(f"{3 * count} hoarders for {seconds} s: {grown / MIB:.0f} MiB more, at most {GROWTH / MIB:.0f}; {told}")


def crowd_out(faults, seconds, connections, downloads, strangers):
    """Reports of 1 MB on many connections, downloads that hang up, uploads that hold the spool and do not go on,
    strangers on every place."""
    bed = faults.bed
    file = _store(bed, 20 * MIB)
    end = time.monotonic() + seconds
    with contextlib.ExitStack() as held, concurrent.futures.ThreadPoolExecutor(connections) as pool, \
            Bystanders(faults) as others:
        for _ in range(4):
            _hold(held, bed, upload_head(bed.neighbour, CHROME, 45_000_000))
        for _ in range(strangers):
            _hold(held, bed, b"GET /readyz HTT")
        reporters = [pool.submit(_report, bed, end) for _ in range(connections)]
        for _ in range(downloads):
            with contextlib.ExitStack() as gone:
                _hold(gone, bed, _head(bed, "GET", f"/pending-uploads/{file}/content"))
        health = _ask_for_health(bed, end)
        heard = collections.Counter(status for reporter in reporters for status in reporter.result())
    told = others.judge("noisy neighbours", OTHERS_WITHIN)
    statuses, slowest = collections.Counter(status for status, _ in health), max(took for _, took in health)
    if set(statuses) != {200}:
        bed.journal.violate("refused", f"health beside noisy neighbours: {dict(statuses)}")
    faults.limit("health beside noisy neighbours", slowest, OTHERS_WITHIN)
    bed.say(f"noisy neighbours for {seconds} s: {told}; health {dict(statuses)}, the slowest {slowest:.2f} s; their "
            f"reports of 1 MB {dict(heard)}")


def _hold(held, bed, data):
    """Sends something on a connection that stays open, and never reads the response."""
    try:
        wire = held.enter_context(Wire(bed.steady.server.address, timeout=10, receive_buffer=4 * KIB))
        wire.send_what_is_taken([data])
    except OSError:
        pass  # refused, which is one way to be safe from it


def _head(bed, method, path, *fields):
    owner = bed.neighbour
    return request_head(method, f"/workspaces/{owner.id}{path}", [
        ("Host", "localhost"), ("Authorization", f"Bearer {owner.token}"), *fields])


def _half_registration():
    body = json.dumps({"id": str(uuid.uuid4()), "agent_card": {"text": "x" * (MIB - KIB)}}).encode()
    return request_head("POST", "/registry/register", [
        ("Host", "localhost"), ("Content-Type", "application/json"), ("Content-Length", str(len(body)))]) + body[:-1]


def _report(bed, end):
    """Posts reports of 1 MB, one connection each: the statuses."""
    body = json.dumps({"activity_type": "agent_log", "request_body": {"text": "x" * 999_000}}).encode()
    head = _head(bed, "POST", "/activity", ("Content-Type", "application/json"), ("Content-Length", str(len(body))),
                 ("Connection", "close"))
    heard = []
    while time.monotonic() < end:
        try:
            with Wire(bed.steady.server.address, timeout=30) as wire:
                wire.send_what_is_taken([head, body])
                heard.append(wire.read_answer().status)
        except LOST:
            heard.append(0)
    return heard


def _ask_for_health(bed, end):
    """Both listeners in turn, until the time is over: (status, seconds) of each answer."""
    heard = []
    for turn in itertools.count():
        begun = time.monotonic()
        if begun > end and turn > 1:
            return heard
        heard.append((bed.steady.server.get("/readyz", metrics=turn % 2 == 1).status, time.monotonic() - begun))
        time.sleep(0.1)


def _store(bed, size):
    """Uploads a file to the noisy workspace: its id."""
    upload, data = crowds.make(bed, bed.neighbour, size)
    with Wire(bed.steady.server.address, timeout=60) as wire:
        wire.send(data)
        status = crowds.read_answer(bed, upload, wire)
    if status != 200:
        raise AssertionError(f"{status} to the upload that prepares a fault")
    return upload.told[0]


def _add_rows(bed):
    """Makes the feed of the noisy workspace large, once: rows with three bodies of just under 16 KiB, written by
    SQL and numbered as the server would."""
    body = "to_json(repeat('x', 16300))"
    with bed.session() as session:
        session.query(
            f"WITH head AS (INSERT INTO activity_heads AS h (workspace_id, seq, last_at) SELECT '{bed.neighbour.id}', "
            f"{ROWS}, now() WHERE NOT EXISTS (SELECT FROM activity_logs WHERE workspace_id = '{bed.neighbour.id}' AND "
            f"activity_type = 'memory_write') ON CONFLICT (workspace_id) DO UPDATE SET seq = h.seq + {ROWS}, "
            "last_at = greatest(h.last_at, clock_timestamp()) RETURNING h.*) "
            "INSERT INTO activity_logs (id, workspace_id, seq, activity_type, created_at, request_body, response_body, "
            f"tool_trace) SELECT gen_random_uuid(), workspace_id, seq - {ROWS} + i, 'memory_write', last_at, {body}, "
            f"{body}, {body} FROM head, generate_series(1, {ROWS}) AS i")
