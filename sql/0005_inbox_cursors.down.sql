DROP FUNCTION forget_activity;
DROP TABLE inbox_cursors;
