-- The feed: what happened, in the order in which it became visible, numbered without holes for each
-- workspace.

CREATE TABLE activity_heads (
    workspace_id uuid        PRIMARY KEY,
    seq          bigint      NOT NULL CHECK (seq >= 0),
    -- The created_at of row seq. New rows never carry an earlier one, whatever the clock does, so that the
    -- order of seq is also the order of created_at and a time can be looked up without an index on it.
    last_at      timestamptz NOT NULL
)
-- Updated by every publication, with no changed column in an index: half-empty pages keep the update
-- heap-only, which is what makes a hot workspace cheap.
WITH (fillfactor = 50);

CREATE TABLE activity_logs (
    id            uuid        PRIMARY KEY,
    -- No foreign key: it would lock the workspace's row in every upload, to guard against a deletion that
    -- never happens (workspaces are only marked removed).
    workspace_id  uuid        NOT NULL,
    seq           bigint      NOT NULL CHECK (seq > 0),
    -- A closed list, and not only for tidiness: a filter by source alone visits the index once for each type.
    activity_type text        NOT NULL CHECK (activity_type IN (
                                  'a2a_send', 'a2a_receive', 'task_update', 'agent_log', 'skill_promotion',
                                  'memory_write', 'error')),
    source_id     uuid,
    target_id     uuid,
    method        text,
    summary       text,
    -- json and not jsonb: the feed hands a body on and never looks inside, so it should come out as it went
    -- in. jsonb would refuse legal JSON (\u0000, 1e1000000), reorder keys, and parse and print each body for
    -- nothing.
    request_body  json,
    response_body json,
    tool_trace    json,
    duration_ms   bigint,
    status        text        NOT NULL DEFAULT 'ok',
    error_detail  text,
    created_at    timestamptz NOT NULL,
    -- The feed's order, the proof that no number is given twice, and the index of every poll without filters.
    UNIQUE (workspace_id, seq)
);

-- Filters by type and source. A row stands in exactly one of the two, so an upload pays for one index and
-- still each of these is a bounded number of short ordered scans, however long the history:
--   type and source   one scan of one index;
--   type              one scan of each;
--   source            one scan of one index for each of the seven types, merged by seq.
CREATE INDEX activity_logs_canvas ON activity_logs (workspace_id, activity_type, seq)
    WHERE source_id IS NULL;
CREATE INDEX activity_logs_agent ON activity_logs (workspace_id, activity_type, seq)
    WHERE source_id IS NOT NULL;

-- Filter by peer: rows from it and rows to it. An upload has no source and is addressed to its own workspace,
-- so it pays for neither.
CREATE INDEX activity_logs_from_peer ON activity_logs (workspace_id, source_id, seq)
    WHERE source_id IS NOT NULL;
CREATE INDEX activity_logs_to_peer ON activity_logs (workspace_id, target_id, seq)
    WHERE target_id <> workspace_id;

-- There is no index on created_at. Within a workspace seq gives the same order (see activity_seq_before), and
-- a BRIN index would go blind with time: its ranges never shrink when old rows make room for new ones.

-- The only writer of activity_logs; the application role may call it and may not INSERT.
--
-- Numbers appear in order because the head row is locked before a number is taken and stays locked until the
-- commit can be seen; a rollback gives the numbers back. The caller does everything else of its transaction
-- first and COMMITs in the same flush, so that the lock, which makes the workspace's other writers wait, is
-- held briefly. A transaction that publishes for several workspaces calls this in the order of their ids, or
-- it may deadlock.
--
-- Element i of every array is row i. Arrays that are NULL or shorter than ids read as NULL; the bodies are
-- JSON text. Returns the rows' ids and numbers in input order.
--
-- PL/pgSQL because it keeps its plans: the same statement as an SQL function is planned anew in every call
-- and takes twice as long. A function with only an upload's columns saves nothing that can be measured, so
-- there is just one.
CREATE FUNCTION publish_activity(
    workspace       uuid,
    ids             uuid[],
    types           text[],
    methods         text[],
    summaries       text[],
    source_ids      uuid[],
    target_ids      uuid[],
    request_bodies  text[],
    response_bodies text[],
    statuses        text[],
    error_details   text[],
    durations       bigint[],
    tool_traces     text[])
RETURNS TABLE (id uuid, seq bigint, created_at timestamptz)
LANGUAGE plpgsql
VOLATILE
SECURITY DEFINER
-- What runs with its owner's rights must not find the caller's look-alikes first.
SET search_path = public, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH head AS (
        -- Found or, for a workspace's first activity, made: whoever comes second in that race waits and
        -- counts on. clock_timestamp() is the time under the lock; now() would be when the transaction began.
        INSERT INTO activity_heads AS h (workspace_id, seq, last_at)
        VALUES (workspace, cardinality(ids), clock_timestamp())
        ON CONFLICT (workspace_id) DO UPDATE
           SET seq = h.seq + excluded.seq, last_at = greatest(h.last_at, clock_timestamp())
        RETURNING h.seq, h.last_at
    )
    INSERT INTO activity_logs AS a (
        id, workspace_id, seq, activity_type, source_id, target_id, method, summary,
        request_body, response_body, tool_trace, duration_ms, status, error_detail, created_at)
    SELECT r.id, workspace, head.seq - cardinality(ids) + r.position, r.type, r.source_id, r.target_id,
           r.method, r.summary, r.request_body::json, r.response_body::json, r.tool_trace::json, r.duration,
           coalesce(r.status, 'ok'), r.error_detail, head.last_at
      FROM head,
           unnest(ids, types, methods, summaries, source_ids, target_ids, request_bodies, response_bodies,
                  statuses, error_details, durations, tool_traces)
           WITH ORDINALITY AS r (id, type, method, summary, source_id, target_id, request_body, response_body,
                                 status, error_detail, duration, tool_trace, position)
     ORDER BY r.position
    RETURNING a.id, a.seq, a.created_at;
END
$$;

-- The number of the last row of a workspace that is older than a moment; one less than the first row's when
-- none is, and 0 without rows. Times rise with seq, so this is a binary search of the (workspace_id, seq)
-- index: 23 look-ups in 5,000,000 rows, and before_ts and since_secs become bounds on seq that every other
-- filter can use. Where retention has removed rows, a look-up lands on the next row that is still there.
CREATE FUNCTION activity_seq_before(workspace uuid, moment timestamptz)
RETURNS bigint
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    low    bigint;  -- every row up to here is older
    high   bigint;  -- every row after this is not
    middle bigint;
    found  record;
BEGIN
    SELECT min(a.seq) - 1, max(a.seq) INTO low, high FROM activity_logs AS a WHERE a.workspace_id = workspace;
    IF high IS NULL THEN
        RETURN 0;
    END IF;
    WHILE low < high LOOP
        middle := low + (high - low + 1) / 2;
        SELECT a.seq, a.created_at INTO found
          FROM activity_logs AS a
         WHERE a.workspace_id = workspace AND a.seq >= middle
         ORDER BY a.seq
         LIMIT 1;
        IF found.created_at < moment THEN
            low := found.seq;
        ELSE
            high := middle - 1;
        END IF;
    END LOOP;
    RETURN low;
END
$$;

-- A new function may be called by everybody until that is taken back.
REVOKE EXECUTE ON FUNCTION publish_activity, activity_seq_before FROM PUBLIC;
