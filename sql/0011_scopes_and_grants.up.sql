-- Tokens that may do less than everything: scopes, names, an end; and upload grants, which are tokens with limits.
--
-- Servers of the versions before know no scopes and would take every token that they find for a full one. So they must
-- not find these. A token that is restricted in any way (another scope than full, or an end) has as its token_hash the
-- SHA-256 of the SHA-256 of the token. An older server looks for the SHA-256, finds no row and answers 401; this one
-- looks for both. A table of their own would have hidden them as well, but then an older server could neither revoke
-- one nor revoke them all with their workspace, and publish_checked() would not see that one was revoked meanwhile.
--
-- compatible with servers from schema 7

ALTER TABLE workspace_auth_tokens
    ADD COLUMN scope         text NOT NULL DEFAULT 'full' CHECK (scope IN ('full', 'upload', 'read', 'grant')),
    -- For people: which program or page has it. The note of a grant.
    ADD COLUMN name          text CHECK (octet_length(name) BETWEEN 1 AND 255),
    -- From then on it is like a revoked one. By the database's clock, like every other question of age.
    ADD COLUMN expires_at    timestamptz,

    -- The rest is for grants. Who made it: the prefix of a token, or 'admin'. Text, because that token may be gone.
    ADD COLUMN created_by    text,
    -- Limits over all requests, and what they have used. They stand in this row so that one UPDATE can ask for the
    -- limits, the end and the revocation and count, under one lock. In no index, so that counting stays heap-only.
    ADD COLUMN max_requests  bigint,
    ADD COLUMN max_files     bigint,
    ADD COLUMN max_bytes     bigint,
    ADD COLUMN used_requests bigint NOT NULL DEFAULT 0,
    ADD COLUMN used_files    bigint NOT NULL DEFAULT 0,
    ADD COLUMN used_bytes    bigint NOT NULL DEFAULT 0,
    -- Media types that it takes, as `image/png` or `image/*`; NULL for all.
    ADD COLUMN types         text[],
    ADD CONSTRAINT workspace_auth_tokens_grant_has_limits CHECK (
        (scope = 'grant') = (max_requests IS NOT NULL AND max_files IS NOT NULL AND max_bytes IS NOT NULL
                             AND expires_at IS NOT NULL)),
    -- The last wall: whatever a server does, a grant is not overdrawn.
    ADD CONSTRAINT workspace_auth_tokens_grant_holds CHECK (
        used_requests <= max_requests AND used_files <= max_files AND used_bytes <= max_bytes);

-- The lists of a workspace's tokens and grants, and how many there are before another is made. Until now a list read the
-- whole table; pages that hand out grants make it grow.
CREATE INDEX workspace_auth_tokens_of_workspace ON workspace_auth_tokens (workspace_id, created_at);

-- The token that staged the file, whatever its scope; NULL for the admin and for files from before. Senders may ask only
-- about their own. No index: it is read with the row, never searched for. No foreign key: old tokens are forgotten.
ALTER TABLE pending_uploads ADD COLUMN staged_by uuid;

-- Counts an upload on its grant, in the transaction that stores it: after the files and before the feed, so that locks
-- are taken in one order. The row stays locked until COMMIT, so two uploads never share what is left, and a rollback
-- gives everything back. Fails with RS003 when too little is left, and with RS002 when it has ended or was revoked.
CREATE FUNCTION use_upload_grant(grant_id uuid, files bigint, bytes bigint)
RETURNS void
LANGUAGE plpgsql
VOLATILE
SET search_path = public, pg_temp
AS $$
BEGIN
    -- clock_timestamp(), because now() is when the transaction began, before the megabytes.
    UPDATE workspace_auth_tokens AS t
       SET used_requests = t.used_requests + 1, used_files = t.used_files + files, used_bytes = t.used_bytes + bytes
     WHERE t.id = grant_id AND t.revoked_at IS NULL AND t.expires_at > clock_timestamp()
       AND t.used_requests < t.max_requests AND t.used_files + files <= t.max_files
       AND t.used_bytes + bytes <= t.max_bytes;
    IF FOUND THEN
        RETURN;
    END IF;
    IF EXISTS (SELECT FROM workspace_auth_tokens AS t
                WHERE t.id = grant_id AND t.revoked_at IS NULL AND t.expires_at > clock_timestamp()) THEN
        RAISE EXCEPTION 'too little is left of the upload grant' USING ERRCODE = 'RS003';
    END IF;
    RAISE EXCEPTION 'the upload grant has ended' USING ERRCODE = 'RS002';
END
$$;

-- Fails with RS002 when one of the tokens has ended. Called after the heads are locked, by transactions whose tokens
-- can end; publish_checked() asks whether they were revoked.
CREATE FUNCTION check_token_ends(tokens uuid[])
RETURNS void
LANGUAGE plpgsql
VOLATILE
SET search_path = public, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM workspace_auth_tokens AS t
                WHERE t.id = ANY (tokens) AND t.expires_at <= clock_timestamp()) THEN
        RAISE EXCEPTION 'the token has ended' USING ERRCODE = 'RS002';
    END IF;
END
$$;

REVOKE EXECUTE ON FUNCTION use_upload_grant, check_token_ends FROM PUBLIC;
