-- How far each workspace has read its inbox, for clients that would rather not remember it themselves.

CREATE TABLE inbox_cursors (
    workspace_id   uuid        PRIMARY KEY,
    -- Only ever forward: the statement that writes it takes the greater of the old and the new.
    last_acked_seq bigint      NOT NULL CHECK (last_acked_seq >= 0),
    updated_at     timestamptz NOT NULL DEFAULT now()
)
-- Updated again and again, with no changed column in an index: room on the page keeps that heap-only.
WITH (fillfactor = 70);
