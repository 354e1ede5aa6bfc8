DROP FUNCTION refresh_waiting_list;
DROP INDEX workspaces_by_name;
DROP TABLE waiting_list_walk;
DROP TABLE waiting_list;
DROP TABLE server_figures;
