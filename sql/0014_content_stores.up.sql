-- Where the bytes of a staged file lie: in its row, as before, or outside of the database under a key.
--
-- A server of the version before knows nothing of this. What it writes is inline, by the default of content_place; what
-- others have put elsewhere it cannot send, so a new server does that only when it is told to (--content-store). It may
-- delete such rows, and then a trigger queues their keys: no sweep can forget them.
--
-- compatible with servers from schema 7

ALTER TABLE pending_uploads
    ADD COLUMN content_place text NOT NULL DEFAULT 'inline',
    -- '2026-11-16T18/<file_id>'
    ADD COLUMN content_key text,
    ALTER COLUMN content DROP NOT NULL,
    DROP CONSTRAINT pending_uploads_size_bytes_check,
    -- Exactly one of bytes and key; that the announced size is that of the bytes is checked as before. PostgreSQL could
    -- hold more than 25 MiB in a row, at a price; outside, 5 GiB is what one PUT of S3 takes.
    --
    -- One constraint and not four, because PostgreSQL parses the text of each in every statement that inserts.
    ADD CONSTRAINT pending_uploads_content_is_somewhere CHECK (
        size_bytes > 0
        AND CASE WHEN content_key IS NULL
                 THEN content IS NOT NULL AND content_place = 'inline' AND size_bytes <= 26214400
                 ELSE content IS NULL AND content_place IN ('directory', 's3') AND size_bytes <= 5368709120
                      AND octet_length(content_key) BETWEEN 1 AND 200
            END);

-- Which of these keys have no row? Asked by whoever looks for leftovers.
CREATE INDEX pending_uploads_content_key ON pending_uploads (content_key) WHERE content_key IS NOT NULL;

-- Keys whose rows are gone and whose bytes are still to be removed.
CREATE TABLE content_removals (
    id            bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    content_place text        NOT NULL,
    content_key   text        NOT NULL,
    queued_at     timestamptz NOT NULL DEFAULT now(),
    -- Until then a server is at work on it. One that dies is replaced by the next.
    claimed_until timestamptz
);

-- A key that is queued is no leftover, and may have to be withdrawn when its bytes are stored again.
CREATE INDEX content_removals_key ON content_removals (content_key);

CREATE FUNCTION queue_content_removals()
RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = public, pg_temp
AS $$
BEGIN
    INSERT INTO content_removals (content_place, content_key)
    SELECT content_place, content_key FROM gone WHERE content_key IS NOT NULL;
    RETURN NULL;
END
$$;

CREATE TRIGGER pending_uploads_content_removals AFTER DELETE ON pending_uploads
    REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION queue_content_removals();

-- How much lies where, acked files included: they take room until they are swept. As unacked_uploads, it counts up to
-- 10,000 rows and estimates more from a sample of pages.
CREATE FUNCTION stored_by_place()
RETURNS TABLE (place text, files bigint, bytes bigint)
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    counted_exactly CONSTANT bigint := 10000;
    pages_sampled   CONSTANT double precision := 1000;
    pages           double precision;
    share           double precision;
BEGIN
    IF (SELECT count(*) FROM (SELECT FROM pending_uploads LIMIT counted_exactly + 1) AS first) <= counted_exactly THEN
        RETURN QUERY SELECT u.content_place, count(*), sum(u.size_bytes)::bigint
                       FROM pending_uploads AS u GROUP BY u.content_place;
        RETURN;
    END IF;
    pages := pg_relation_size('pending_uploads') / current_setting('block_size')::double precision;
    share := least(1, pages_sampled / greatest(pages, 1));
    RETURN QUERY SELECT u.content_place, round(count(*) / share)::bigint, round(sum(u.size_bytes) / share)::bigint
                   FROM pending_uploads AS u TABLESAMPLE SYSTEM (100 * share) GROUP BY u.content_place;
END
$$;

REVOKE EXECUTE ON FUNCTION queue_content_removals, stored_by_place FROM PUBLIC;
