-- Quotas: how much may wait for one workspace, in bytes and files that are neither acked nor expired.
--
-- The rows of pending_uploads are the truth, and an upload is refused only after they were counted, under the lock of
-- the workspace's head. So that they need not be counted for every upload, the head holds a number that is never below
-- the truth: publishing adds to it, and counting sets it anew. Acks, expiry and sweeps only make the truth smaller, so
-- they have nothing to do: they take no lock, and a server of the version before, which knows nothing of this, cannot
-- forget it.
--
-- Why the count is exact: whoever publishes files of a workspace holds its head until the commit can be seen. Behind the
-- lock a new snapshot shows all files that were ever committed for it, and nobody can add one.
--
-- compatible with servers from schema 7

-- In no index, so that publishing stays heap-only. Existing heads are counted by their next upload, or within a minute.
ALTER TABLE activity_heads
    -- The workspace's own limits: NULL is the default, which is a setting of the server; 0 is no limit. They stand here
    -- because publishing has this row in its hands and no other.
    ADD COLUMN max_waiting_bytes bigint,
    ADD COLUMN max_waiting_files bigint,
    -- No more than this waits, as long as counted_seq is seq.
    ADD COLUMN waiting_bytes bigint NOT NULL DEFAULT 0,
    ADD COLUMN waiting_files bigint NOT NULL DEFAULT 0,
    -- The head's number when they were last right. A server of the version before moves seq and leaves this behind,
    -- which shows that it may have added files.
    ADD COLUMN counted_seq   bigint,
    -- One constraint for all three, because PostgreSQL parses the text of each in every statement that inserts.
    DROP CONSTRAINT activity_heads_seq_check,
    ADD CONSTRAINT activity_heads_not_negative CHECK (least(seq, max_waiting_bytes, max_waiting_files) >= 0);

-- What waits for a workspace, from its rows. clock_timestamp(), because the caller may have waited for a lock.
CREATE FUNCTION count_waiting(workspace uuid, OUT bytes bigint, OUT files bigint)
LANGUAGE plpgsql
STABLE
-- Fresh tables have no statistics, and a plan of that time would read all workspaces.
SET enable_seqscan = off
AS $$
BEGIN
    SELECT coalesce(sum(u.size_bytes), 0), count(*) INTO bytes, files
      FROM pending_uploads AS u
     WHERE u.workspace_id = workspace AND u.acked_at IS NULL AND u.expires_at > clock_timestamp();
END
$$;

-- As publish_checked, which stays as it is for servers of the version before. Besides, file_bytes[i] is the size of the
-- file that row i tells of, NULL for a row without a file; default_bytes and default_files are the limits of workspaces
-- that have none of their own, 0 for no limit. Fails with RS004 when more would wait for one of the workspaces than may.
-- Arrays begin at 1, and workspaces has an element for each row.
CREATE FUNCTION publish_counted(
    tokens          uuid[],
    file_bytes      bigint[],
    default_bytes   bigint,
    default_files   bigint,
    workspaces      uuid[],
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
-- One plan for all calls, made for a head table that is large or becomes it: by the index.
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    head_ids    uuid[];
    head_rows   bigint[];
    head_bytes  bigint[];
    head_files  bigint[];
    head_places tid[];
    new_ids     uuid[];
    made        bigint;
    head_seqs   bigint[];
    head_at     timestamptz[];
    to_count    uuid[];
    rows      CONSTANT int := cardinality(workspaces);
    row_seqs  bigint[] := array_fill(0::bigint, ARRAY[rows]);
    row_at    timestamptz[] := array_fill(now(), ARRAY[rows]);
    place     int;
    removed   boolean;
    revoked   boolean;
    head      record;
    waiting   record;
BEGIN
    -- Heads are locked in the order of workspaces, so that no two transactions wait for each other. The newest version of
    -- a head is looked for from the end of the index, which lists equal keys by their place: while an old snapshot keeps
    -- VACUUM from removing the former ones, INSERT … ON CONFLICT DO UPDATE would step over all of them.
    LOOP
        SELECT array_agg(wanted.workspace_id), array_agg(wanted.rows), array_agg(wanted.bytes), array_agg(wanted.files),
               array_agg(newest.place), array_agg(wanted.workspace_id) FILTER (WHERE newest.place IS NULL)
          INTO head_ids, head_rows, head_bytes, head_files, head_places, new_ids
          FROM (SELECT w.workspace_id, count(*) AS rows, coalesce(sum(w.bytes), 0) AS bytes, count(w.bytes) AS files
                  FROM unnest(workspaces, file_bytes) AS w (workspace_id, bytes)
                 GROUP BY w.workspace_id ORDER BY w.workspace_id) AS wanted
          LEFT JOIN LATERAL (SELECT h.ctid AS place FROM activity_heads AS h
                              WHERE h.workspace_id >= wanted.workspace_id AND h.workspace_id <= wanted.workspace_id
                              ORDER BY h.workspace_id DESC LIMIT 1 FOR NO KEY UPDATE) AS newest ON true;
        EXIT WHEN new_ids IS NULL;
        INSERT INTO activity_heads (workspace_id, seq, last_at)
        SELECT w.id, 0, clock_timestamp() FROM unnest(new_ids) AS w (id) ORDER BY w.id
        ON CONFLICT DO NOTHING;
        GET DIAGNOSTICS made = ROW_COUNT;
        -- Heads that others have made meanwhile are locked with all in order. Who holds others by now must not wait for them.
        IF made < cardinality(new_ids) AND made + cardinality(head_ids) > cardinality(new_ids) THEN
            RAISE EXCEPTION 'another transaction began the feed' USING ERRCODE = 'serialization_failure';
        END IF;
    END LOOP;

    WITH head AS (
        UPDATE activity_heads AS h
           SET seq = h.seq + w.rows, last_at = greatest(h.last_at, clock_timestamp()),
               waiting_bytes = h.waiting_bytes + w.bytes, waiting_files = h.waiting_files + w.files,
               counted_seq = CASE WHEN h.counted_seq = h.seq THEN h.seq + w.rows END
          FROM unnest(head_places, head_rows, head_bytes, head_files) AS w (place, rows, bytes, files)
         WHERE h.ctid = w.place
        RETURNING h.workspace_id, h.seq, h.last_at,
                  h.counted_seq IS DISTINCT FROM h.seq
                  OR h.waiting_bytes > nullif(coalesce(h.max_waiting_bytes, default_bytes), 0)
                  OR h.waiting_files > nullif(coalesce(h.max_waiting_files, default_files), 0) AS may_be_full
    )
    SELECT array_agg(head.workspace_id), array_agg(head.seq), array_agg(head.last_at),
           array_agg(head.workspace_id) FILTER (WHERE head.may_be_full)
      INTO head_ids, head_seqs, head_at, to_count
      FROM head;

    -- The last of a workspace's rows has the head's number, the one before it one less. A loop, because a window function
    -- and a join with the heads take longer for as few rows as there are.
    FOR i IN REVERSE rows..1 LOOP
        place := array_position(head_ids, workspaces[i]);
        row_seqs[i] := head_seqs[place];
        row_at[i] := head_at[place];
        head_seqs[place] := head_seqs[place] - 1;
    END LOOP;

    -- Elements are picked by their position: each further array of unnest() would be a table of its own.
    RETURN QUERY
    INSERT INTO activity_logs AS a (
        id, workspace_id, seq, activity_type, source_id, target_id, method, summary,
        request_body, response_body, tool_trace, duration_ms, status, error_detail, created_at)
    SELECT ids[r.i], r.workspace_id, row_seqs[r.i], types[r.i], source_ids[r.i], target_ids[r.i], methods[r.i],
           summaries[r.i], request_bodies[r.i]::json, response_bodies[r.i]::json, tool_traces[r.i]::json,
           durations[r.i], coalesce(statuses[r.i], 'ok'), error_details[r.i], row_at[r.i]
      FROM unnest(workspaces) WITH ORDINALITY AS r (workspace_id, i)
    RETURNING a.id, a.seq, a.created_at;

    -- A statement of its own, so that its snapshot is younger than any wait for a head.
    SELECT EXISTS (SELECT FROM workspaces AS known WHERE known.id = ANY (head_ids) AND known.removed_at IS NOT NULL),
           EXISTS (SELECT FROM workspace_auth_tokens AS known WHERE known.id = ANY (tokens) AND known.revoked_at IS NOT NULL)
      INTO removed, revoked;
    IF removed THEN
        RAISE EXCEPTION 'the workspace was removed' USING ERRCODE = 'RS001';
    END IF;
    IF revoked THEN
        RAISE EXCEPTION 'the token was revoked' USING ERRCODE = 'RS002';
    END IF;
    IF to_count IS NULL OR file_bytes IS NULL THEN
        RETURN;
    END IF;

    -- Only those that get files now: a message is welcome however much waits.
    FOR head IN
        SELECT h.workspace_id AS id,
               nullif(coalesce(h.max_waiting_bytes, default_bytes), 0) AS max_bytes,
               nullif(coalesce(h.max_waiting_files, default_files), 0) AS max_files
          FROM activity_heads AS h
         WHERE h.workspace_id = ANY (to_count)
           AND h.workspace_id IN (SELECT w.workspace_id FROM unnest(workspaces, file_bytes) AS w (workspace_id, bytes)
                                   WHERE w.bytes IS NOT NULL)
    LOOP
        waiting := count_waiting(head.id);
        IF waiting.bytes > head.max_bytes OR waiting.files > head.max_files THEN
            RAISE EXCEPTION 'too much is waiting for the workspace' USING ERRCODE = 'RS004';
        END IF;
        UPDATE activity_heads AS h
           SET waiting_bytes = waiting.bytes, waiting_files = waiting.files, counted_seq = h.seq
         WHERE h.workspace_id = head.id;
    END LOOP;
END
$$;

-- Gives a workspace limits of its own, or takes them back; false when there is no such workspace. The head may have to
-- be made before the workspace's first activity.
CREATE FUNCTION set_workspace_quota(workspace uuid, set_bytes boolean, new_bytes bigint, set_files boolean,
                                    new_files bigint)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
SECURITY DEFINER
SET search_path = public, pg_temp
AS $$
BEGIN
    INSERT INTO activity_heads AS h (workspace_id, seq, last_at, max_waiting_bytes, max_waiting_files)
    SELECT w.id, 0, clock_timestamp(), new_bytes, new_files
      FROM workspaces AS w WHERE w.id = workspace AND w.removed_at IS NULL
    ON CONFLICT (workspace_id) DO UPDATE
       SET max_waiting_bytes = CASE WHEN set_bytes THEN new_bytes ELSE h.max_waiting_bytes END,
           max_waiting_files = CASE WHEN set_files THEN new_files ELSE h.max_waiting_files END;
    RETURN FOUND;
END
$$;

-- Counts anew the heads that an older server has left behind, and those whose number is near a limit: it may be far
-- above the truth, and `restante status` and the metrics begin with the largest numbers. A head that somebody has locked
-- is left for the next time.
--
-- One call is short, whatever there is: it looks at up to 1,000 heads after the given one and counts up to 20. reached
-- is the last head that needs no second look; NULL when there are no more.
CREATE FUNCTION recount_waiting(default_bytes bigint, default_files bigint, after uuid,
                                OUT recounted bigint, OUT reached uuid)
LANGUAGE plpgsql
VOLATILE
SECURITY DEFINER
SET search_path = public, pg_temp
AS $$
DECLARE
    max_heads CONSTANT bigint := 1000;
    max_count CONSTANT bigint := 20;
    looked_at bigint := 0;
    head      record;
    waiting   record;
BEGIN
    recounted := 0;
    reached := after;
    FOR head IN
        SELECT h.workspace_id AS id,
               h.counted_seq IS DISTINCT FROM h.seq
               OR 4 * h.waiting_bytes > nullif(coalesce(h.max_waiting_bytes, default_bytes), 0)
               OR 4 * h.waiting_files > nullif(coalesce(h.max_waiting_files, default_files), 0) AS due
          FROM activity_heads AS h
         WHERE h.workspace_id > after
         ORDER BY h.workspace_id
         LIMIT max_heads
    LOOP
        IF head.due THEN
            IF recounted = max_count THEN
                RETURN;
            END IF;
            PERFORM FROM activity_heads AS h WHERE h.workspace_id = head.id FOR NO KEY UPDATE SKIP LOCKED;
            IF FOUND THEN
                recounted := recounted + 1;
                waiting := count_waiting(head.id);
                UPDATE activity_heads AS h
                   SET waiting_bytes = waiting.bytes, waiting_files = waiting.files, counted_seq = h.seq
                 WHERE h.workspace_id = head.id
                   AND (h.waiting_bytes, h.waiting_files, h.counted_seq)
                       IS DISTINCT FROM (waiting.bytes, waiting.files, h.seq);
            END IF;
        END IF;
        looked_at := looked_at + 1;
        reached := head.id;
    END LOOP;
    IF looked_at < max_heads THEN
        reached := NULL;
    END IF;
END
$$;

-- The workspace that is nearest to one of its limits, from its rows. A head's number is never below the truth, so the
-- search goes down from the largest and ends where none can be fuller any more.
CREATE FUNCTION fullest_workspace(default_bytes bigint, default_files bigint,
                                  OUT workspace uuid, OUT share double precision)
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    head    record;
    waiting record;
    real    double precision;
BEGIN
    share := 0;
    FOR head IN
        SELECT h.workspace_id AS id, limits.bytes, limits.files,
               greatest(h.waiting_bytes / limits.bytes, h.waiting_files / limits.files) AS at_most
          FROM activity_heads AS h,
               LATERAL (SELECT nullif(coalesce(h.max_waiting_bytes, default_bytes), 0)::double precision AS bytes,
                               nullif(coalesce(h.max_waiting_files, default_files), 0)::double precision AS files
                       ) AS limits
         WHERE h.waiting_files > 0
         ORDER BY at_most DESC NULLS LAST
         LIMIT 1000
    LOOP
        EXIT WHEN head.at_most IS NULL OR head.at_most <= share;
        waiting := count_waiting(head.id);
        real := greatest(waiting.bytes / head.bytes, waiting.files / head.files);
        IF real > share THEN
            workspace := head.id;
            share := real;
        END IF;
    END LOOP;
END
$$;

REVOKE EXECUTE ON FUNCTION count_waiting, publish_counted, set_workspace_quota, recount_waiting, fullest_workspace
    FROM PUBLIC;
