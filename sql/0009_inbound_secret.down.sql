ALTER TABLE workspaces DROP COLUMN platform_inbound_secret;
