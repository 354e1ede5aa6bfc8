DROP INDEX workspaces_listed;
DROP INDEX workspaces_updated;
DROP INDEX workspace_auth_tokens_revoked;
DROP TABLE workspace_presence;
