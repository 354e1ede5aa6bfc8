-- What the platform proves itself with when it calls a workspace: `Authorization: Bearer <secret>`. In the clear,
-- because it has to be sent, and receivers compare it literally. Older servers leave it NULL; it is then made at
-- the next registration or forward.
--
-- compatible with servers from schema 7
ALTER TABLE workspaces ADD COLUMN platform_inbound_secret text;
