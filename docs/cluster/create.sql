-- Once, as postgres on the primary: psql -f create.sql
CREATE ROLE restante LOGIN PASSWORD 'PASSWORD_OF_RESTANTE';
CREATE DATABASE restante OWNER restante ENCODING 'UTF8';
-- So that /readyz can see whether a standby is synchronous; without it only whether there is any.
GRANT pg_read_all_stats TO restante;
