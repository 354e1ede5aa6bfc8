-- Which workspaces are there. A table beside workspaces, not columns of it: what changes all day must be narrow.
-- A row of workspaces carries an agent card and is read by every look-up of a token; this one is rewritten about
-- every 40 s for as long as its agent lives.
--
-- compatible with servers from schema 7

CREATE TABLE workspace_presence (
    workspace_id   uuid        PRIMARY KEY REFERENCES workspaces (id),
    -- 'removed' mirrors workspaces.removed_at, so that the rows of this table can be counted without the other.
    status         text        NOT NULL
                               CHECK (status IN ('awaiting_agent', 'online', 'degraded', 'offline', 'removed')),
    -- The last heartbeat or poll, about 40 s late while the agent goes on and exact once it has stopped. NULL: none
    -- yet.
    last_seen_at   timestamptz,
    -- Since when it has had this status.
    changed_at     timestamptz NOT NULL DEFAULT now(),
    -- What the last heartbeat said.
    error_rate     float8      NOT NULL DEFAULT 0,
    sample_error   text        NOT NULL DEFAULT '',
    active_tasks   bigint      NOT NULL DEFAULT 0,
    uptime_seconds bigint      NOT NULL DEFAULT 0,
    current_task   text        NOT NULL DEFAULT '',
    runtime_state  text        NOT NULL DEFAULT ''
)
-- Every page keeps room for another version of each of its rows, and nothing that changes is indexed: the stamps
-- are heap-only updates. There is no index on last_seen_at for the same reason; the search for silent workspaces
-- reads the table, 20 ms for 100,000 rows every 15 s.
WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.1);

INSERT INTO workspace_presence (workspace_id, status, last_seen_at, changed_at)
SELECT id, CASE WHEN removed_at IS NULL THEN 'online' ELSE 'removed' END, updated_at, updated_at FROM workspaces;

-- "What has been revoked or changed in the last minute?", asked by every server every 2 s, so that tokens which come
-- back every half minute need not be looked up each time. last_used_at stays out of it: its updates remain heap-only.
CREATE INDEX workspace_auth_tokens_revoked ON workspace_auth_tokens (revoked_at) WHERE revoked_at IS NOT NULL;
CREATE INDEX workspaces_updated ON workspaces (updated_at);
-- GET /workspaces, page by page.
CREATE INDEX workspaces_listed ON workspaces (created_at, id) WHERE removed_at IS NULL;
