"""Compares what clients were told with what the database holds. Knows the schema and the contract, but none
of the server's code."""

import collections
import decimal
import json

from stores import Inline

KINDS = ("lost", "ghost", "duplicated", "orphaned", "out of order", "truncated", "foreign", "refused", "late",
         "lost bytes", "orphaned bytes", "wrong digest")


def named(columns, rows):
    return [dict(zip(columns, row)) for row in rows]


class Checker:
    def __init__(self, session, journal, contents=None, crashes=0):
        """What is in a content store (stores.py) is compared with the rows. A crash may leave the bytes of one request
        behind, until a janitor comes."""
        self.journal = journal
        self.contents = contents or Inline()
        self.crashes = crashes
        self.found = collections.defaultdict(list, {kind: [] for kind in KINDS})
        self.files = named(("id", "workspace", "name", "size", "digest", "activity", "acked", "key", "told"), session.query(
            "SELECT file_id, workspace_id, filename, size_bytes, encode(sha256(content), 'hex'), "
            "activity_id, acked_at IS NOT NULL, content_key, encode(sha256, 'hex') FROM pending_uploads"))
        self.queued = {row[0] for row in session.query("SELECT content_key FROM content_removals")}
        for file in self.files:
            if file["key"] is not None:
                file["digest"] = self.contents.digest(file["key"])
        self.activities = named(("id", "workspace", "seq", "method", "target", "body", "at"), session.query(
            "SELECT id, workspace_id, seq, method, target_id, CASE method WHEN 'chat_upload_receive' THEN request_body END, "
            "extract(epoch FROM created_at) FROM activity_logs ORDER BY workspace_id, seq"))
        self.heads = dict(session.query("SELECT workspace_id, seq FROM activity_heads"))
        self.by_name = collections.defaultdict(list)
        for file in self.files:
            self.by_name[file["name"]].append(file)

    def run(self):
        for kind, sentence in self.journal.violations:
            self.found[kind].append(sentence)
        self.check_uploads()
        self.check_strangers()
        self.check_pairs()
        self.check_numbers()
        self.check_pollers()
        self.check_listeners()
        self.check_acks()
        self.check_contents()
        return {kind: self.found[kind] for kind in KINDS}

    def report(self, kind, sentence):
        self.found[kind].append(sentence)

    def check_uploads(self):
        """Answered 200: stored, complete, once, in its workspace. Rejected: not stored. Unknown: all of it or
        nothing."""
        seq_of = {row["id"]: int(row["seq"]) for row in self.activities}
        for upload in self.journal.uploads:
            rows = [self.by_name.get(file.name, []) for file in upload.files]
            present = sum(bool(found) for found in rows)
            what = f"{upload.files[0].name} (key {upload.key}, answers {upload.answers})"
            if upload.verdict() == "stored" and present < len(rows):
                self.report("lost", f"{what}: {present} of {len(rows)} are there")
            if upload.verdict() == "not stored" and present:
                self.report("ghost", f"{what}: {present} of {len(rows)} are there")
            if 0 < present < len(rows):
                self.report("orphaned", f"{what}: {present} of {len(rows)} are there")
            if any(len(found) > 1 for found in rows):
                self.report("duplicated", f"{what}: {[len(found) for found in rows]}")
            if present == len(rows):
                self.check_stored(upload, [found[0] for found in rows], seq_of, what)

    def check_stored(self, upload, rows, seq_of, what):
        for file, digest, row in zip(upload.files, upload.digests, rows):
            if (int(row["size"]), row["digest"]) != (file.size, digest):
                self.report("truncated", f"{file.name}: {row['size']} bytes of {file.size}, or other ones")
            if row["workspace"] != upload.workspace.id:
                self.report("foreign", f"{file.name} lies in {row['workspace']}")
        if upload.told is not None and upload.told != [row["id"] for row in rows]:
            self.report("ghost", f"{what}: told other file ids than are stored")
        seqs = [seq_of.get(row["activity"], 0) for row in rows]
        if seqs != list(range(seqs[0], seqs[0] + len(seqs))):
            self.report("out of order", f"{what}: numbers {seqs}")

    def check_contents(self):
        """Every row has its bytes; every byte has a row, or is about to be removed, or a crash has left it behind."""
        for file in self.files:
            if file["key"] is None:
                continue  # in the row: compared with what was sent
            if file["digest"] is None:
                self.report("lost bytes", f"{file['name']}: nothing at {file['key']}")
            elif file["digest"] != file["told"]:
                self.report("wrong digest", f"{file['name']}: {file['digest']} is stored, the row says {file['told']}")
        without = self.contents.keys() - {file["key"] for file in self.files} - self.queued
        if len(without) > 64 * self.crashes:
            self.report("orphaned bytes", f"{len(without)} without a row after {self.crashes} crashes: {sorted(without)[:3]}")

    def check_strangers(self):
        for name in self.by_name.keys() - self.journal.digests.keys():
            self.report("ghost", f"{name}: nobody sent it")

    def check_pairs(self):
        """Every file has its activity row, and vice versa."""
        activities = {row["id"]: row for row in self.activities}
        files = {file["id"]: file for file in self.files}
        for file in self.files:
            row = activities.get(file["activity"])
            if not row or json.loads(row["body"])["file_id"] != file["id"]:
                self.report("orphaned", f"{file['name']} has no activity row")
            elif row["workspace"] != file["workspace"] or row["target"] != file["workspace"]:
                self.report("foreign", f"{file['name']} is told of in {row['workspace']}")
        for row in self.activities:
            if row["method"] == "chat_upload_receive" and json.loads(row["body"])["file_id"] not in files:
                self.report("orphaned", f"activity {row['id']} tells of a file that is not there")

    def check_numbers(self):
        """1, 2, 3 … for each workspace, and timestamps that never decrease."""
        feeds = collections.defaultdict(list)
        for row in self.activities:
            feeds[row["workspace"]].append(row)
        for workspace, rows in feeds.items():
            if [int(row["seq"]) for row in rows] != list(range(1, len(rows) + 1)):
                self.report("out of order", f"{workspace}: the numbers have holes")
            if int(self.heads[workspace]) != len(rows):
                self.report("out of order", f"{workspace}: head {self.heads[workspace]}, {len(rows)} rows")
            times = [decimal.Decimal(row["at"]) for row in rows]
            if times != sorted(times):
                self.report("out of order", f"{workspace}: times go back")

    def check_pollers(self):
        """Every poller received every committed row of its workspace exactly once, in order, and nothing
        else."""
        committed = collections.defaultdict(list)
        for row in self.activities:
            committed[row["workspace"]].append(row["id"])
        known = {row["id"] for row in self.activities}
        for poller, rows in self.journal.seen.items():
            workspaces = {row[2] for row in rows}
            if len(workspaces) != 1:
                self.report("foreign", f"{poller} saw rows of {len(workspaces)} workspaces")
                continue
            seen = [row[0] for row in rows]
            for again in [item for item, times in collections.Counter(seen).items() if times > 1]:
                self.report("duplicated", f"{poller} saw {again} more than once")
            for ghost in [item for item in seen if item not in known]:
                self.report("ghost", f"{poller} saw {ghost}, which is not in the database")
            expected = committed[workspaces.pop()]
            for missing in set(expected) - set(seen):
                self.report("lost", f"{poller} never saw {missing}")
            if [row[1] for row in rows] != sorted(row[1] for row in rows):
                self.report("out of order", f"{poller}: numbers went back")

    def check_listeners(self):
        """On one socket: only committed rows of that workspace, each once, in order."""
        known = {row["id"]: row["workspace"] for row in self.activities}
        for socket, events in self.journal.heard.items():
            for identity, seq, workspace in events:
                if identity not in known:
                    self.report("ghost", f"{socket} heard of {identity} ({seq}), which is not in the database")
                elif known[identity] != workspace:
                    self.report("foreign", f"{socket} heard of {identity} as one of {workspace}")
            if len({workspace for _, _, workspace in events}) > 1:
                self.report("foreign", f"{socket} heard of several workspaces")
            seqs = [seq for _, seq, _ in events]
            if len(set(seqs)) < len(seqs):
                self.report("duplicated", f"{socket} heard of a row twice")
            if seqs != sorted(seqs):
                self.report("out of order", f"{socket}: numbers went back")

    def check_acks(self):
        acked = {file["id"] for file in self.files if file["acked"] == "t"}
        for missing in self.journal.acked - acked:
            self.report("lost", f"the ack of {missing} was confirmed and is not stored")
        for name in [file["name"] for file in self.files if file["id"] in acked - self.journal.acked]:
            if name not in self.journal.digests:
                self.report("ghost", f"{name} is acked and was never sent")
