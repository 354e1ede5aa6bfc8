-- Without its limits a token would come back as a full one, should the schema go up again.
UPDATE workspace_auth_tokens SET revoked_at = now()
 WHERE revoked_at IS NULL AND (scope <> 'full' OR expires_at IS NOT NULL);
DROP FUNCTION check_token_ends, use_upload_grant;
ALTER TABLE pending_uploads DROP COLUMN staged_by;
DROP INDEX workspace_auth_tokens_of_workspace;
ALTER TABLE workspace_auth_tokens
    DROP COLUMN scope,
    DROP COLUMN name,
    DROP COLUMN expires_at,
    DROP COLUMN created_by,
    DROP COLUMN max_requests,
    DROP COLUMN max_files,
    DROP COLUMN max_bytes,
    DROP COLUMN used_requests,
    DROP COLUMN used_files,
    DROP COLUMN used_bytes,
    DROP COLUMN types;
