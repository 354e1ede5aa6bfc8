-- The version before could neither send nor remove what lies outside of the rows, so none may.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pending_uploads WHERE content_place <> 'inline') THEN
        RAISE EXCEPTION 'the bytes of some files are not in their rows: move them with `restante content move --to inline` first';
    END IF;
    IF EXISTS (SELECT FROM content_removals) THEN
        RAISE EXCEPTION 'bytes of deleted files are still to be removed: let a server with their store do that first';
    END IF;
END
$$;
DROP TRIGGER pending_uploads_content_removals ON pending_uploads;
DROP FUNCTION queue_content_removals, stored_by_place;
DROP TABLE content_removals;
ALTER TABLE pending_uploads
    DROP CONSTRAINT pending_uploads_content_is_somewhere,
    ALTER COLUMN content SET NOT NULL,
    DROP COLUMN content_key,
    DROP COLUMN content_place,
    ADD CONSTRAINT pending_uploads_size_bytes_check CHECK (size_bytes > 0 AND size_bytes <= 26214400);
