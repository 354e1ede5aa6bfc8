-- The counter itself: bytes that wait for their workspace to call for them.
--
-- They have a table of their own because activity is kept for months and these are thrown away within a day;
-- 25 MB values in the same table would sit in the way of every scan of the feed.

CREATE TABLE pending_uploads (
    file_id       uuid        PRIMARY KEY DEFAULT gen_random_uuid(),
    -- No foreign key: a staged file is evidence of receipt and outlives the removal of its workspace.
    workspace_id  uuid        NOT NULL,
    content       bytea       NOT NULL,
    -- The per-file cap of the contract. The server refuses a setting above it, and this refuses everybody
    -- else.
    size_bytes    bigint      NOT NULL CHECK (size_bytes > 0 AND size_bytes <= 26214400),
    -- Sanitized by the server; 100 is what clients were promised.
    filename      text        NOT NULL CHECK (length(filename) BETWEEN 1 AND 100),
    mimetype      text        NOT NULL DEFAULT '',
    created_at    timestamptz NOT NULL DEFAULT now(),
    fetched_at    timestamptz,
    acked_at      timestamptz,
    -- Decided by the database's clock, like every other question of age.
    expires_at    timestamptz NOT NULL DEFAULT now() + interval '24 hours',
    sha256        bytea       NOT NULL CHECK (octet_length(sha256) = 32),
    -- The name as the sender wrote it, without control characters; NULL where only the sanitized one was
    -- known.
    original_name text,
    -- The feed's row about this file, if one tells of it. No foreign key: that row is written after this one
    -- and kept far longer.
    activity_id   uuid,
    -- The announced size is the real one. PostgreSQL knows the length of a value without reading it, so this
    -- costs nothing that could be measured, neither when 1 MiB is inserted nor when fetched_at is stamped.
    CONSTRAINT pending_uploads_size_is_true CHECK (octet_length(content) = size_bytes)
)
-- fetched_at is stamped at least once in the life of most rows and stands in no index: the room keeps that
-- update heap-only. The bytes are not copied by it, they lie in the TOAST table.
WITH (fillfactor = 80);

-- Uploads are mostly compressed already, so trying again wastes CPU; and only an uncompressed value can be
-- read in slices without reading all of it.
ALTER TABLE pending_uploads ALTER COLUMN content SET STORAGE EXTERNAL;

-- The workspace's list of what it has not acked, oldest first.
CREATE INDEX pending_uploads_unacked ON pending_uploads (workspace_id, created_at) WHERE acked_at IS NULL;

-- The sweep of files that nobody came for. Acked rows leave it, so it holds only what can still expire.
CREATE INDEX pending_uploads_expiring ON pending_uploads (expires_at) WHERE acked_at IS NULL;

-- The sweep of acked files; without it each sweep would scan the table. An upload does not pay for it.
CREATE INDEX pending_uploads_acked ON pending_uploads (acked_at) WHERE acked_at IS NOT NULL;

-- What waits, for gauges and `restante status`, at a price that does not grow with the table. Up to 10,000 unacked files
-- are counted one by one along their index. Of more, about 1,000 pages of the table are read, picked by chance, and
-- what they hold stands for the rest: some per cent off, never below what was counted, and marked as estimated.
-- An estimate reads size and state from the row alone; the bytes lie in the TOAST table and are not touched.
--
-- Expired files count until they are swept: they still take room. The oldest is the one that expires first.
CREATE FUNCTION unacked_uploads(OUT files bigint, OUT bytes bigint, OUT never_fetched bigint, OUT oldest timestamptz,
                                OUT estimated boolean)
LANGUAGE plpgsql
STABLE
-- Fresh tables have no statistics, and without them the planner would rather sort all rows than walk an index.
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
DECLARE
    counted_exactly CONSTANT bigint := 10000;
    pages_sampled   CONSTANT double precision := 1000;
    pages           double precision;
    share           double precision;
    sampled         record;
BEGIN
    -- Newest first: the other end of the index is where swept rows leave entries behind until VACUUM comes.
    SELECT count(*), coalesce(sum(u.size_bytes), 0), count(*) FILTER (WHERE u.fetched_at IS NULL)
      INTO files, bytes, never_fetched
      FROM (SELECT p.size_bytes, p.fetched_at FROM pending_uploads AS p
             WHERE p.acked_at IS NULL ORDER BY p.expires_at DESC LIMIT counted_exactly + 1) AS u;
    SELECT p.created_at INTO oldest FROM pending_uploads AS p
     WHERE p.acked_at IS NULL ORDER BY p.expires_at LIMIT 1;
    estimated := files > counted_exactly;
    IF NOT estimated THEN
        RETURN;
    END IF;

    pages := pg_relation_size('pending_uploads') / current_setting('block_size')::double precision;
    share := least(1, pages_sampled / greatest(pages, 1));
    SELECT count(*) / share AS files, coalesce(sum(p.size_bytes), 0) / share AS bytes,
           count(*) FILTER (WHERE p.fetched_at IS NULL) / share AS never_fetched
      INTO sampled
      FROM pending_uploads AS p TABLESAMPLE SYSTEM (100 * share)
     WHERE p.acked_at IS NULL;
    files := greatest(files, round(sampled.files));
    bytes := greatest(bytes, round(sampled.bytes));
    never_fetched := greatest(never_fetched, round(sampled.never_fetched));
END
$$;

REVOKE EXECUTE ON FUNCTION unacked_uploads FROM PUBLIC;
