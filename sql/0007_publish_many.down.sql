-- As 0002_activity has it.
CREATE OR REPLACE FUNCTION publish_activity(
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

DROP FUNCTION publish_activities;
