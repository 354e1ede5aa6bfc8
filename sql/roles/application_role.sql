-- The rights of a running server, for people who keep them apart from those of the owner of the schema. Not a
-- migration: a role belongs to the whole PostgreSQL, not to one database, and the private PostgreSQL does
-- without it.
--
--   restante migrate --database-url 'postgresql://owner@…/restante'
--   psql 'postgresql://owner@…/restante' -f sql/roles/application_role.sql
--   restante serve --no-migrate --database-url 'postgresql://restante_app@…/restante'
--
-- Run it again after each migration; running it twice changes nothing. Give the role a password, or let
-- pg_hba.conf name who may use it.

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'restante_app') THEN
        CREATE ROLE restante_app LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE;
    END IF;
EXCEPTION
    -- Somebody else made it in the meantime.
    WHEN duplicate_object OR unique_violation THEN NULL;
END
$$;

-- No DDL: databases that came from before PostgreSQL 15 let everybody create things in public.
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO restante_app;

GRANT SELECT, INSERT, UPDATE ON workspaces, workspace_presence, inbox_cursors TO restante_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON workspace_auth_tokens, pending_uploads, upload_requests TO restante_app;
GRANT SELECT, UPDATE ON sweeper_state TO restante_app;
-- A trigger writes it, and `restante content move`.
GRANT SELECT, INSERT, UPDATE, DELETE ON content_removals TO restante_app;
-- A trigger writes it; the sweep forgets.
GRANT SELECT, DELETE ON upload_outcomes TO restante_app;
-- Figures for the operator's page.
GRANT SELECT, INSERT, UPDATE, DELETE ON server_figures, waiting_list TO restante_app;
GRANT SELECT, UPDATE ON waiting_list_walk TO restante_app;

-- History is added to and forgotten only through its functions: not even a bug in the server can give a row a
-- number of its own choice or change what a row says.
GRANT SELECT ON activity_logs, activity_heads TO restante_app;
GRANT EXECUTE ON FUNCTION
    publish_activity, publish_activities, publish_checked, publish_counted, activity_seq_before, forget_activity,
    unacked_uploads, stored_by_place, count_waiting, recount_waiting, set_workspace_quota, fullest_workspace,
    use_upload_grant, check_token_ends, refresh_waiting_list TO restante_app;

-- The server compares the schema with what it was built for before it serves.
DO $$
BEGIN
    IF to_regclass('public.schema_migrations') IS NOT NULL THEN
        GRANT SELECT ON schema_migrations TO restante_app;
    END IF;
END
$$;
