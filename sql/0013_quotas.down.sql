DROP FUNCTION fullest_workspace, recount_waiting, set_workspace_quota, publish_counted, count_waiting;
ALTER TABLE activity_heads
    DROP CONSTRAINT activity_heads_not_negative,
    ADD CONSTRAINT activity_heads_seq_check CHECK (seq >= 0),
    DROP COLUMN waiting_bytes, DROP COLUMN waiting_files, DROP COLUMN counted_seq,
    DROP COLUMN max_waiting_bytes, DROP COLUMN max_waiting_files;
