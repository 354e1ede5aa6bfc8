-- What the operator's page shows: the servers' figures over the last three hours, and which workspaces have how much
-- waiting. Both are small, and reading them costs the same however much is stored.
--
-- compatible with servers from schema 7

-- A point of one server: what it did in ten seconds. At most 1,080 for each server; every write takes the old ones with
-- it, also those of servers that are gone.
CREATE TABLE server_figures (
    -- When the ten seconds began, so that the points of several servers can be added up.
    slot     timestamptz NOT NULL,
    -- A process, not a machine: a restart is another server.
    server   uuid        NOT NULL,
    -- Counts and sums, in the order of server/series/series_point.hpp. A newer server may add some at the end.
    figures  bigint[]    NOT NULL,
    -- Requests by how long they took: the buckets of the histograms in /metrics.
    buckets  bigint[]    NOT NULL,
    PRIMARY KEY (slot, server)
)
-- Rows come and go in the same order, half a million a week for ten servers.
WITH (autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 200);

-- What waits for a workspace, for lists that are ordered by it. Rows are there for workspaces with waiting files only.
-- It is a copy, brought up to date by those who look at it (refresh_waiting_list); uploads and acks do not touch it.
CREATE TABLE waiting_list (
    workspace_id uuid        PRIMARY KEY,
    files        bigint      NOT NULL,
    bytes        bigint      NOT NULL,
    oldest_at    timestamptz NOT NULL,
    -- files and bytes are the head's numbers, which may be too large: more than 10,000 files wait.
    estimated    boolean     NOT NULL
);
CREATE INDEX waiting_list_bytes ON waiting_list (bytes DESC, workspace_id);
CREATE INDEX waiting_list_oldest ON waiting_list (oldest_at, workspace_id);

-- How far the walk over the workspaces has come. One row; whoever has locked it walks.
CREATE TABLE waiting_list_walk (
    singleton   boolean     PRIMARY KEY DEFAULT true CHECK (singleton),
    reached     uuid        NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    -- When the walk last came to its end: what the list shows is at most one walk old. NULL: it never has.
    finished_at timestamptz
);
INSERT INTO waiting_list_walk DEFAULT VALUES;

-- The list of all workspaces by name, page by page.
CREATE INDEX workspaces_by_name ON workspaces (lower(coalesce(name, '')), id) WHERE removed_at IS NULL;

-- Walks on over the workspaces that have unacked files, from one to the next along the index: up to max_workspaces, and
-- not beyond max_files files. Starts again at the first once a second at most.
CREATE FUNCTION refresh_waiting_list(max_workspaces bigint, max_files bigint)
RETURNS void
LANGUAGE plpgsql
VOLATILE
-- Fresh tables have no statistics, and a plan of that time would read all files.
SET enable_seqscan = off
AS $$
DECLARE
    most_counted CONSTANT bigint := 10000;
    walk      record;
    here      uuid;
    found_id  uuid;
    waiting   record;
    seen      bigint := 0;
    looked_at bigint := 0;
    began     timestamptz := clock_timestamp();
BEGIN
    SELECT w.reached, w.finished_at INTO walk FROM waiting_list_walk AS w FOR UPDATE SKIP LOCKED;
    IF NOT FOUND OR (walk.reached = '00000000-0000-0000-0000-000000000000'
                     AND walk.finished_at > began - interval '1 second') THEN
        RETURN;
    END IF;
    here := walk.reached;
    WHILE looked_at < max_workspaces AND seen < max_files LOOP
        SELECT u.workspace_id INTO found_id FROM pending_uploads AS u
         WHERE u.acked_at IS NULL AND u.workspace_id > here ORDER BY u.workspace_id, u.created_at LIMIT 1;
        -- Those in between have nothing waiting.
        DELETE FROM waiting_list AS l WHERE l.workspace_id > here AND (found_id IS NULL OR l.workspace_id < found_id);
        IF found_id IS NULL THEN
            here := '00000000-0000-0000-0000-000000000000';
            EXIT;
        END IF;
        SELECT count(*) AS files, coalesce(sum(f.size_bytes), 0) AS bytes, min(f.created_at) AS oldest_at INTO waiting
          FROM (SELECT u.size_bytes, u.created_at FROM pending_uploads AS u
                 WHERE u.workspace_id = found_id AND u.acked_at IS NULL AND u.expires_at > began
                 ORDER BY u.created_at LIMIT most_counted) AS f;
        IF waiting.files = 0 THEN
            DELETE FROM waiting_list AS l WHERE l.workspace_id = found_id;
        ELSE
            INSERT INTO waiting_list AS l (workspace_id, files, bytes, oldest_at, estimated)
            SELECT found_id, coalesce(h.waiting_files, waiting.files), coalesce(h.waiting_bytes, waiting.bytes), waiting.oldest_at,
                   h.workspace_id IS NOT NULL
              FROM (SELECT) AS one LEFT JOIN activity_heads AS h
                ON h.workspace_id = found_id AND waiting.files = most_counted
            ON CONFLICT (workspace_id) DO UPDATE
               SET files = excluded.files, bytes = excluded.bytes, oldest_at = excluded.oldest_at,
                   estimated = excluded.estimated
             WHERE (l.files, l.bytes, l.oldest_at, l.estimated)
                   IS DISTINCT FROM (excluded.files, excluded.bytes, excluded.oldest_at, excluded.estimated);
        END IF;
        here := found_id;
        seen := seen + waiting.files;
        looked_at := looked_at + 1;
    END LOOP;
    UPDATE waiting_list_walk AS w
       SET reached = here,
           finished_at = CASE WHEN here = '00000000-0000-0000-0000-000000000000' THEN began ELSE w.finished_at END;
END
$$;

REVOKE EXECUTE ON FUNCTION refresh_waiting_list FROM PUBLIC;
