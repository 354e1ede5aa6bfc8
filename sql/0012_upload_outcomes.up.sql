-- Receipts: what became of a file, for as long as activity is kept. While the file's row is there it is its own receipt;
-- this is what is left of it when the row goes.
--
-- A trigger writes it, in the statement that removes the row, whoever runs that: this server's sweep, the sweep of a
-- server of the version before, an operator. None of them can forget it, an ack costs nothing, and no file has two
-- records that could differ. A batch of the sweep, 200 files, takes a few milliseconds longer.
--
-- compatible with servers from schema 7

CREATE TABLE upload_outcomes (
    file_id       uuid        PRIMARY KEY,
    workspace_id  uuid        NOT NULL,
    -- The token or grant that staged it: those with the scope `upload` see their own files only.
    staged_by     uuid,
    filename      text        NOT NULL,
    original_name text,
    mimetype      text        NOT NULL,
    size_bytes    bigint      NOT NULL,
    sha256        bytea       NOT NULL,
    staged_at     timestamptz NOT NULL,
    fetched_at    timestamptz,
    -- NULL: it expired.
    acked_at      timestamptz,
    expires_at    timestamptz NOT NULL,
    -- When it was acked or expired; retention counts from here.
    ended_at      timestamptz NOT NULL
);

-- The sweep of old receipts. Rows are added almost in this order, so it grows at one end.
CREATE INDEX upload_outcomes_ended ON upload_outcomes (ended_at);

CREATE FUNCTION record_upload_outcomes()
RETURNS trigger
LANGUAGE plpgsql
-- The role that a server runs under reads receipts and forgets old ones, and cannot write any.
SECURITY DEFINER
SET search_path = public, pg_temp
AS $$
BEGIN
    -- The bytes are not touched: a transition table refers to them where they lie.
    INSERT INTO upload_outcomes (file_id, workspace_id, staged_by, filename, original_name, mimetype, size_bytes, sha256,
                                 staged_at, fetched_at, acked_at, expires_at, ended_at)
    SELECT file_id, workspace_id, staged_by, filename, original_name, mimetype, size_bytes, sha256,
           created_at, fetched_at, acked_at, expires_at, coalesce(acked_at, expires_at)
      FROM gone
    -- A file that came back, from a backup for one, must not stop the sweep.
    ON CONFLICT (file_id) DO NOTHING;
    RETURN NULL;
END
$$;

CREATE TRIGGER pending_uploads_outcomes AFTER DELETE ON pending_uploads
    REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION record_upload_outcomes();

REVOKE EXECUTE ON FUNCTION record_upload_outcomes FROM PUBLIC;
