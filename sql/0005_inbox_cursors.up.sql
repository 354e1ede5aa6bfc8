-- How far each workspace has read its inbox, for clients that would rather not remember it themselves.

CREATE TABLE inbox_cursors (
    workspace_id   uuid        PRIMARY KEY,
    -- Only ever forward: the statement that writes it takes the greater of the old and the new.
    last_acked_seq bigint      NOT NULL CHECK (last_acked_seq >= 0),
    updated_at     timestamptz NOT NULL DEFAULT now()
)
-- Updated again and again, with no changed column in an index: room on the page keeps that heap-only.
WITH (fillfactor = 70);

-- Removes activity that is older than the retention, the oldest of each workspace first; two things stay:
--   what the workspace's cursor has not passed, until it is twice as old: whoever reads late finds it, and whoever
--   never comes back does not keep it for ever;
--   the newest row, so that a client that has read everything keeps a cursor that is known.
--
-- One call is short, whatever there is: it looks at up to 500 workspaces after the given one and removes up to 5,000
-- rows. reached is the last workspace that needs no second look; NULL when there are no more. One sweeper at a time: a
-- second one finds the lock taken, and nothing left to do.
CREATE FUNCTION forget_activity(retention interval, after uuid, OUT gone bigint, OUT reached uuid)
LANGUAGE plpgsql
VOLATILE
SECURITY DEFINER
SET search_path = public, pg_temp
AS $$
DECLARE
    max_workspaces CONSTANT bigint := 500;
    max_rows       CONSTANT bigint := 5000;
    head           record;
    oldest         record;
    last_to_go     bigint;
    removed        bigint;
    looked_at      bigint := 0;
BEGIN
    gone := 0;
    IF NOT pg_try_advisory_xact_lock('activity_logs'::regclass::oid::bigint) THEN
        RETURN;
    END IF;
    reached := after;
    FOR head IN
        SELECT h.workspace_id AS id, h.seq AS newest, c.last_acked_seq AS passed
          FROM activity_heads AS h LEFT JOIN inbox_cursors AS c USING (workspace_id)
         WHERE h.workspace_id > after
         ORDER BY h.workspace_id
         LIMIT max_workspaces
    LOOP
        looked_at := looked_at + 1;
        SELECT a.seq, a.created_at INTO oldest
          FROM activity_logs AS a WHERE a.workspace_id = head.id ORDER BY a.seq LIMIT 1;
        IF oldest.created_at < now() - retention AND oldest.seq < head.newest THEN
            last_to_go := least(
                greatest(least(activity_seq_before(head.id, now() - retention), coalesce(head.passed, head.newest)),
                         activity_seq_before(head.id, now() - 2 * retention)),
                head.newest - 1);
            DELETE FROM activity_logs AS a
             WHERE a.workspace_id = head.id AND a.seq <= least(last_to_go, oldest.seq + max_rows - gone - 1);
            GET DIAGNOSTICS removed = ROW_COUNT;
            gone := gone + removed;
            IF gone >= max_rows THEN
                RETURN;
            END IF;
        END IF;
        reached := head.id;
    END LOOP;
    IF looked_at < max_workspaces THEN
        reached := NULL;
    END IF;
END
$$;

REVOKE EXECUTE ON FUNCTION forget_activity FROM PUBLIC;
