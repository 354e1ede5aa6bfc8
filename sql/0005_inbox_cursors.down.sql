DROP TABLE inbox_cursors;
