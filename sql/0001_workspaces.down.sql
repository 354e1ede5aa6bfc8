DROP TABLE workspace_auth_tokens;
DROP TABLE workspaces;
