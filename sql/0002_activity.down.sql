DROP FUNCTION activity_seq_before;
DROP FUNCTION publish_activity;
DROP TABLE activity_logs;
DROP TABLE activity_heads;
