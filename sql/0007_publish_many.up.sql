-- Publishing for several workspaces in one call. Requests share transactions, and a call for each of their workspaces
-- was a third of what an upload cost: calling, planning the statement's execution and reading its CHECKs anew come
-- once now, however many rows there are.
--
-- publish_activity stays as it is, for the servers of the version before, which run beside this one during an upgrade.
-- Both lock the same heads, so their numbers are one sequence.

-- Writes to activity_logs; the application role may call it and may not INSERT.
--
-- Numbers appear in order because the head rows are locked before a number is taken and stay locked until the
-- commit can be seen; a rollback gives the numbers back. They are locked in the order of their ids, so that two
-- calls never wait for each other in a circle. The caller does everything else of its transaction first, calls
-- this once and COMMITs in the same flush, so that the locks, which make the workspaces' other writers wait, are
-- held briefly.
--
-- Element i of every array is row i. Arrays that are NULL or shorter than ids read as NULL; the bodies are JSON
-- text. Returns the rows' ids and numbers in input order.
--
-- PL/pgSQL because it keeps its plans: the same statement as an SQL function is planned anew in every call.
CREATE FUNCTION publish_activities(
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
        -- Found or, for a workspace's first activity, made: whoever comes second in that race waits and
        -- counts on. clock_timestamp() is the time under the lock; now() would be when the transaction began.
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
END
$$;

REVOKE EXECUTE ON FUNCTION publish_activities FROM PUBLIC;
