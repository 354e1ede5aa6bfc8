DROP TRIGGER pending_uploads_outcomes ON pending_uploads;
DROP FUNCTION record_upload_outcomes;
DROP TABLE upload_outcomes;
