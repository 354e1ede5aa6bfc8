-- Who may hold files here, and the tokens that open each workspace.

CREATE TABLE workspaces (
    id            uuid        PRIMARY KEY,
    name          text,
    -- NULL and '' are rows from before the modes existed; they are treated as push, and refused for want of a
    -- url.
    delivery_mode text        CHECK (delivery_mode IN ('poll', 'push', '')),
    url           text,
    status        text        NOT NULL DEFAULT 'online',
    -- What the workspace says of itself. Only peer_info reads it, a key at a time, hence jsonb.
    agent_card    jsonb,
    role          text,
    created_at    timestamptz NOT NULL DEFAULT now(),
    updated_at    timestamptz NOT NULL DEFAULT now(),
    -- A workspace is marked, never deleted: its id must stay taken, because a removed one cannot come back
    -- (410).
    removed_at    timestamptz
);

CREATE TABLE workspace_auth_tokens (
    id           uuid        PRIMARY KEY DEFAULT gen_random_uuid(),
    -- A foreign key is affordable here: tokens are minted by hand, and their workspace is never deleted.
    workspace_id uuid        NOT NULL REFERENCES workspaces (id),
    -- SHA-256 of the token; the token itself is nowhere. The unique index is also the look-up of every
    -- request.
    token_hash   bytea       NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
    -- The first characters of the token, so that people can tell their tokens apart in a list.
    prefix       text        NOT NULL CHECK (octet_length(prefix) = 8),
    created_at   timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz,
    revoked_at   timestamptz
)
-- last_used_at is stamped all day and stands in no index: room on the page keeps those updates heap-only.
WITH (fillfactor = 70);

-- "Has this workspace a live token?" at registration, and the revocation of all of them at removal.
CREATE INDEX workspace_auth_tokens_live ON workspace_auth_tokens (workspace_id) WHERE revoked_at IS NULL;
