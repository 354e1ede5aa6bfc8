DROP FUNCTION publish_activities;
