DROP TABLE upload_requests;
