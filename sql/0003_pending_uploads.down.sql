DROP FUNCTION unacked_uploads;
DROP TABLE pending_uploads;
