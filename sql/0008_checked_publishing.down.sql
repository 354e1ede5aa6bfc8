DROP FUNCTION publish_checked;
