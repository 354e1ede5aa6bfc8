-- What the last sweep did, by whichever replica ran it, for `restante status`.

CREATE TABLE sweeper_state (
    -- There is one row, and there can be no second.
    singleton        boolean     PRIMARY KEY DEFAULT true CHECK (singleton),
    last_started_at  timestamptz,
    last_finished_at timestamptz,
    last_acked       bigint      NOT NULL DEFAULT 0,
    last_expired     bigint      NOT NULL DEFAULT 0,
    -- NULL when it ended well.
    last_error       text
);

-- Made here, so that writing it is always an UPDATE.
INSERT INTO sweeper_state DEFAULT VALUES;
