"""Somebody else makes commits wait: a synchronous standby that does not confirm, or a session that holds the lock
of one workspace."""

import collections
import concurrent.futures
import itertools
import time

from bystanders import Bystanders
from http_wire import await_true
from probe import Probe

TOLD_WITHIN = 10  # seconds until a client hears that its upload may or may not be stored
OTHERS_WITHIN = 2
WAITING = ("SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'restante%' AND wait_event = 'SyncRep'")
_numbers = itertools.count()


def stall_standby(faults, seconds, clients=8):
    """While the standby confirms nothing, neither does the server: what it has confirmed is on the standby, and
    no session that waits for the standby is ended, because its commit would then be visible without it."""
    bed, end = faults.bed, time.monotonic() + seconds
    with bed.standby.stalled(), concurrent.futures.ThreadPoolExecutor(clients) as pool:
        heard = [pool.submit(_insist, bed, end, bed.workspaces[i % len(bed.workspaces)]) for i in range(clients)]
        with bed.session() as operator:
            waited = await_true(lambda: operator.query(WAITING), 10, "a commit waits for the standby")
            answers = [answer for client in heard for answer in client.result()]
            ended = set(waited) - set(operator.query(WAITING))
        _find_unconfirmed(bed)
    statuses = collections.Counter(status for status, _ in answers)
    slowest = max(took for _, took in answers)
    faults.limit("an answer while the standby is stalled", slowest, TOLD_WITHIN)
    if set(statuses) != {503}:
        bed.journal.violate("lost", f"answers without the standby: {dict(statuses)}")
    if ended:
        bed.journal.violate("lost", f"{len(ended)} sessions that waited for the standby were ended")
    bed.say(f"standby stalled for {seconds} s: answers {dict(statuses)}, the slowest {slowest:.2f} s; {len(waited)} "
            f"sessions waited from the start, {len(ended)} of them ended")


def _find_unconfirmed(bed):
    """Reports files that were confirmed to a client and are not on the standby, which has replayed all it got."""
    confirmed = {file.name for upload in list(bed.journal.uploads) if upload.told is not None for file in upload.files}
    try:
        await_true(lambda: confirmed <= bed.standby.files(bed.database), 10, "all that was confirmed")
    except AssertionError:
        missing = confirmed - bed.standby.files(bed.database)
        bed.journal.violate("lost", f"{len(missing)} confirmed files are not on the standby: {sorted(missing)[:3]}")


def lock_workspace(faults, seconds, uploaders):
    """Another session holds the head of one workspace, to which many upload: the others keep their pace."""
    bed = faults.bed
    locked = faults.random.choice(bed.workspaces)
    faults.probe.upload_until_stored(locked)  # or there might be no head yet
    with bed.session() as holder, concurrent.futures.ThreadPoolExecutor(uploaders) as pool, \
            Bystanders(faults, but=locked) as others:
        holder.query(f"BEGIN; SELECT FROM activity_heads WHERE workspace_id = '{locked.id}' FOR UPDATE")
        end = time.monotonic() + seconds
        crowd = [pool.submit(_insist, bed, end, locked) for _ in range(uploaders)]
        time.sleep(seconds)
        holder.query("ROLLBACK")
        heard = collections.Counter(status for client in crowd for status, _ in client.result())
    told = others.judge("a locked workspace", OTHERS_WITHIN)
    bed.say(f"a workspace locked for {seconds} s: {told}; its own {dict(heard)}")


def _insist(bed, end, workspace):
    """Uploads to a workspace one after another, every other one with a key: (status, seconds) of each."""
    probe, heard = Probe(f"insistent{next(_numbers)}", bed, bed.steady), []
    while time.monotonic() < end:
        heard.append(probe.upload(workspace, keyed=len(heard) % 2 == 1))
    return heard
