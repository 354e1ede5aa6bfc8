-- The peer's tables, in the plain form that the contract suggests.

CREATE TABLE workspaces (
    id            uuid PRIMARY KEY,
    name          text NOT NULL,
    delivery_mode text,
    url           text,
    status        text DEFAULT 'online',
    agent_card    jsonb,
    created_at    timestamptz DEFAULT now()
);

CREATE TABLE workspace_auth_tokens (
    id           uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    token_hash   bytea NOT NULL UNIQUE,
    prefix       text NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz,
    revoked_at   timestamptz
);
CREATE INDEX ON workspace_auth_tokens (workspace_id) WHERE revoked_at IS NULL;

CREATE TABLE activity_logs (
    id            uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    workspace_id  uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    activity_type text NOT NULL,
    source_id     uuid,
    target_id     uuid,
    method        text,
    summary       text,
    request_body  jsonb,
    response_body jsonb,
    tool_trace    jsonb,
    duration_ms   int,
    status        text DEFAULT 'ok',
    error_detail  text,
    created_at    timestamptz DEFAULT now(),
    seq           bigserial
);
CREATE INDEX ON activity_logs (workspace_id, activity_type, created_at DESC);
CREATE INDEX ON activity_logs (created_at);

CREATE TABLE pending_uploads (
    file_id      uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    workspace_id uuid NOT NULL,
    content      bytea NOT NULL,
    size_bytes   bigint NOT NULL CHECK (size_bytes > 0 AND size_bytes <= 26214400),
    filename     text NOT NULL CHECK (length(filename) > 0 AND length(filename) <= 100),
    mimetype     text NOT NULL DEFAULT '',
    created_at   timestamptz NOT NULL DEFAULT now(),
    fetched_at   timestamptz,
    acked_at     timestamptz,
    expires_at   timestamptz NOT NULL DEFAULT now() + interval '24 hours'
);
CREATE INDEX ON pending_uploads (workspace_id, created_at) WHERE acked_at IS NULL;
CREATE INDEX ON pending_uploads (expires_at) WHERE acked_at IS NULL;
