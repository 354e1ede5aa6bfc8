// What happens to a staged file after it was stored: fetched and acked.
#include "storage/digest_column.hpp"
#include "storage/pending_uploads.hpp"
#include "storage/upload_change_columns.hpp"

namespace restante {

namespace {

// `found` is what the snapshot shows; `locked` is what is left of it once all rows are locked, in the order
// of their ids so that two of these never deadlock. A row that was found and could not be locked has been
// swept in between. Of several acks at once one marks the row, and knows that it was the one.
const statement ack_files{
    "ack_files",
    "WITH wanted AS (SELECT file_id, nullif(sha256, '') AS sha256 "
    "FROM unnest($2::uuid[], $3::bytea[]) AS w (file_id, sha256)), "
    "found AS ("
    "SELECT u.file_id, u.filename, u.size_bytes, u.sha256, u.staged_by, u.mimetype, "
    "coalesce(w.sha256 <> u.sha256, false) AS mismatched "
    "FROM wanted AS w JOIN pending_uploads AS u USING (file_id) "
    "WHERE u.workspace_id = $1::uuid AND (u.acked_at IS NOT NULL OR u.expires_at > now())), "
    "locked AS ("
    "SELECT u.file_id FROM wanted AS w JOIN pending_uploads AS u USING (file_id) "
    "WHERE u.workspace_id = $1::uuid AND (u.acked_at IS NOT NULL OR u.expires_at > now()) "
    "AND coalesce(w.sha256, u.sha256) = u.sha256 "
    "ORDER BY u.file_id FOR NO KEY UPDATE OF u), "
    "marked AS ("
    "UPDATE pending_uploads AS u SET acked_at = now() FROM locked "
    "WHERE u.file_id = locked.file_id AND u.acked_at IS NULL RETURNING u.file_id) "
    "SELECT $1::uuid, f.file_id, f.filename, f.size_bytes, f.sha256, now(), f.staged_by, f.mimetype, "
    "locked.file_id IS NOT NULL AND marked.file_id IS NULL, NOT f.mismatched AND locked.file_id IS NULL, "
    "f.mismatched FROM found AS f LEFT JOIN locked USING (file_id) LEFT JOIN marked USING (file_id)",
    promised};

// Locked in the same order as acks, for the same reason. A locked row is the newest version of it, so just
// one of several stamps finds it without one; those are returned. A file that was acked or has
// expired meanwhile does not become fetched.
const statement stamp_fetched{
    "stamp_fetched",
    "WITH fetched AS ("
    "SELECT u.file_id, u.fetched_at IS NULL AND u.acked_at IS NULL AND u.expires_at > now() AS first "
    "FROM pending_uploads AS u "
    "JOIN (SELECT DISTINCT * FROM unnest($1::uuid[], $2::uuid[])) AS f (workspace_id, file_id) "
    "ON u.file_id = f.file_id AND u.workspace_id = f.workspace_id "
    "ORDER BY u.file_id FOR NO KEY UPDATE OF u), "
    "stamped AS ("
    "UPDATE pending_uploads AS u SET fetched_at = now() FROM fetched WHERE u.file_id = fetched.file_id "
    "RETURNING " UPLOAD_CHANGE_COLUMNS("u", "u.fetched_at") ", fetched.first) "
    "SELECT * FROM stamped WHERE first"};

result<acked_file> read_acked_file(const pq::row& row)
{
    auto change = read_upload_change(row);
    if (!change)
        return change.error();
    constexpr int next = upload_change_columns;
    const auto mimetype = row[next].as<std::string>();
    const auto again = row[next + 1].as<bool>(), raced = row[next + 2].as<bool>(),
               mismatched = row[next + 3].as<bool>();
    if (!mimetype || !again || !raced || !mismatched)
        return RESTANTE_ERROR(errc::wrong_column_type);
    return acked_file{std::move(*change), *mimetype, *again, *raced, *mismatched};
}

}  // namespace

awaitable<result<std::vector<acked_file>>> pending_uploads::ack(uuid workspace,
                                                                std::span<const file_to_ack> files)
{
    std::vector<uuid> ids;
    std::vector<pq::blob> digests;
    for (const auto& file : files) {
        ids.push_back(file.file_id);
        digests.push_back(file.sha256 ? as_blob(*file.sha256) : pq::blob());
    }
    const pq::parameters with(workspace, std::span<const uuid>(ids), std::span<const pq::blob>(digests));
    const auto rows = co_await db_.execute(ack_files, with, workspace);
    if (!rows)
        co_return rows.error();
    std::vector<acked_file> acked;
    std::vector<upload_change> marked;
    for (int i = 0; i < rows->size(); ++i) {
        auto file = read_acked_file((*rows)[i]);
        if (!file)
            co_return file.error();
        if (!file->again && !file->raced && !file->mismatched)
            marked.push_back(file->what);
        acked.push_back(std::move(*file));
    }
    tell_upload_changes(listener_, upload_state::acked, marked);
    co_return acked;
}

awaitable<result<void>> pending_uploads::mark_fetched(std::span<const uuid> workspaces,
                                                      std::span<const uuid> files)
{
    const pq::parameters with(workspaces, files);
    const auto rows = co_await db_.execute(stamp_fetched, with);
    if (!rows)
        co_return rows.error();
    const auto first = read_upload_changes(*rows);
    if (!first)
        co_return first.error();
    tell_upload_changes(listener_, upload_state::fetched, *first);
    co_return result<void>();
}

}  // namespace restante
