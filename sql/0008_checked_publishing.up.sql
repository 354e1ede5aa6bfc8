-- Publishing that refuses what is not allowed any more. A request is authorised when its head arrives; its body may take
-- minutes. Whether the workspace is still there and the token still live is therefore asked again here, by the
-- transaction that writes: after the heads are locked, so that nothing that was revoked or removed while this waited for
-- a lock gets through.
--
-- publish_activity and publish_activities stay as they are, for servers of the versions before, which run beside this
-- one during an upgrade. All of them lock the same heads, so their numbers are one sequence.
--
-- compatible with servers from schema 7

-- As publish_activities; besides, tokens[i] is the token that row i was written with, NULL for the admin's.
-- Fails with RS001 when one of the workspaces was removed, and with RS002 when one of the tokens was revoked.
CREATE FUNCTION publish_checked(
    tokens          uuid[],
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
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH head AS (
        INSERT INTO activity_heads AS h (workspace_id, seq, last_at)
        SELECT w.workspace_id, count(*), clock_timestamp() FROM unnest(workspaces) AS w (workspace_id)
         GROUP BY w.workspace_id ORDER BY w.workspace_id
        ON CONFLICT (workspace_id) DO UPDATE
           SET seq = h.seq + excluded.seq, last_at = greatest(h.last_at, clock_timestamp())
        RETURNING h.workspace_id, h.seq, h.last_at
    )
    INSERT INTO activity_logs AS a (
        id, workspace_id, seq, activity_type, source_id, target_id, method, summary,
        request_body, response_body, tool_trace, duration_ms, status, error_detail, created_at)
    SELECT r.id, head.workspace_id,
           -- The last of a workspace's rows has the head's number.
           head.seq + 1 - row_number() OVER (PARTITION BY head.workspace_id ORDER BY r.position DESC),
           r.type, r.source_id, r.target_id, r.method, r.summary, r.request_body::json, r.response_body::json,
           r.tool_trace::json, r.duration, coalesce(r.status, 'ok'), r.error_detail, head.last_at
      FROM unnest(workspaces, ids, types, methods, summaries, source_ids, target_ids, request_bodies,
                  response_bodies, statuses, error_details, durations, tool_traces)
           WITH ORDINALITY AS r (workspace_id, id, type, method, summary, source_id, target_id, request_body,
                                 response_body, status, error_detail, duration, tool_trace, position)
      JOIN head ON head.workspace_id = r.workspace_id
     ORDER BY r.position
    RETURNING a.id, a.seq, a.created_at;

    -- A statement of its own, so that its snapshot is younger than any wait for a head.
    IF EXISTS (SELECT FROM unnest(workspaces) AS w (workspace_id)
                 JOIN workspaces AS known ON known.id = w.workspace_id WHERE known.removed_at IS NOT NULL) THEN
        RAISE EXCEPTION 'the workspace was removed' USING ERRCODE = 'RS001';
    END IF;
    IF tokens IS NOT NULL
       AND EXISTS (SELECT FROM unnest(tokens) AS t (token_id)
                     JOIN workspace_auth_tokens AS known ON known.id = t.token_id
                    WHERE known.revoked_at IS NOT NULL) THEN
        RAISE EXCEPTION 'the token was revoked' USING ERRCODE = 'RS002';
    END IF;
END
$$;

REVOKE EXECUTE ON FUNCTION publish_checked FROM PUBLIC;
