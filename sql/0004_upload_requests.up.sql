-- One row for each upload request that stored something, written in the same transaction as its files. It
-- answers two questions: "did I send this already?" (the client's Idempotency-Key) and "did that COMMIT
-- happen?" (a server whose connection broke while it waited for the answer).

CREATE TABLE upload_requests (
    workspace_id    uuid        NOT NULL,
    -- 1 to 128 visible ASCII characters from the client, or made by the server.
    key             text        NOT NULL CHECK (octet_length(key) BETWEEN 1 AND 160),
    -- SHA-256 over names, types and contents: the same key with other files is a mistake that must be told.
    -- NULL where nobody can compare, as in a key that the server made for itself.
    fingerprint     bytea       CHECK (octet_length(fingerprint) = 32),
    -- The body of the first answer, word for word. Text, because it is only ever sent again.
    response        text,
    -- When the files of that answer expire: a replay after it would name files that are gone.
    files_expire_at timestamptz,
    -- 'abandoned' is a tombstone. A server that lost its connection during COMMIT inserts it on a fresh one:
    -- the insert waits for the lost transaction if that is still alive, fails on its row if it committed, and
    -- once it stands the lost transaction can never commit.
    outcome         text        NOT NULL CHECK (outcome IN ('stored', 'abandoned')),
    created_at      timestamptz NOT NULL DEFAULT now(),
    -- A client's key is kept for 48 hours; the server's own needs to outlive only its last question: 15
    -- minutes.
    expires_at      timestamptz NOT NULL,
    -- The row that two requests with one key fight over; the loser waits for the winner's COMMIT.
    PRIMARY KEY (workspace_id, key),
    CONSTRAINT upload_requests_tombstone_is_empty CHECK (outcome = 'stored' OR response IS NULL)
);

-- The sweep of old keys.
CREATE INDEX upload_requests_expiring ON upload_requests (expires_at);
