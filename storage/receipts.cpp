#include "storage/receipts.hpp"

#include "storage/digest_column.hpp"

namespace restante {

namespace {

// The statement that removes a file writes its outcome, so a snapshot shows one of the two and never both.
const statement find_receipt{
    "find_receipt",
    "SELECT file_id, filename, original_name, mimetype, size_bytes, sha256, fetched_at IS NOT NULL, "
    "acked_at IS NOT NULL, expires_at <= now(), created_at, fetched_at, acked_at, expires_at "
    "FROM pending_uploads WHERE file_id = $1::uuid AND workspace_id = $2::uuid "
    "AND ($3::uuid IS NULL OR staged_by = $3::uuid) "
    "UNION ALL "
    "SELECT file_id, filename, original_name, mimetype, size_bytes, sha256, fetched_at IS NOT NULL, "
    "acked_at IS NOT NULL, true, staged_at, fetched_at, acked_at, expires_at "
    "FROM upload_outcomes WHERE file_id = $1::uuid AND workspace_id = $2::uuid "
    "AND ($3::uuid IS NULL OR staged_by = $3::uuid)"};

const statement find_states{
    "find_upload_states",
    "SELECT file_id, fetched_at IS NOT NULL, acked_at IS NOT NULL, expires_at <= now() "
    "FROM pending_uploads WHERE file_id = ANY ($1::uuid[]) "
    "UNION ALL "
    "SELECT file_id, fetched_at IS NOT NULL, acked_at IS NOT NULL, true "
    "FROM upload_outcomes WHERE file_id = ANY ($1::uuid[])"};

result<receipt> read_receipt(const pq::row& row)
{
    using text = std::string;
    using moment = std::optional<timestamp>;
    auto values = row.as<uuid, text, std::optional<text>, text, std::int64_t, pq::blob, bool, bool, bool,
                         timestamp, moment, moment, timestamp>();
    if (!values)
        return values.error();
    auto& [file, name, original, mimetype, size, sha256, fetched, acked, past_expiry, staged_at, fetched_at,
           acked_at, expires_at] = *values;
    const auto digest = as_digest(sha256);
    if (!digest)
        return digest.error();
    return receipt{.file_id = file,
                   .filename = std::move(name),
                   .original_name = std::move(original),
                   .mimetype = std::move(mimetype),
                   .size = size,
                   .sha256 = *digest,
                   .state = state_of(fetched, acked, past_expiry),
                   .staged_at = staged_at,
                   .fetched_at = fetched_at,
                   .acked_at = acked_at,
                   .expires_at = expires_at};
}

}  // namespace

awaitable<result<receipt>> receipt_store::find(uuid workspace, uuid file, std::optional<uuid> staged_by)
{
    const pq::parameters with(file, workspace, staged_by);
    const auto rows = co_await db_.execute(find_receipt, with, workspace);
    if (!rows)
        co_return rows.error();
    if (rows->empty())
        co_return RESTANTE_ERROR(errc::receipt_not_found);
    co_return read_receipt((*rows)[0]);
}

awaitable<result<std::vector<upload_news>>> receipt_store::states(std::span<const uuid> files)
{
    const pq::parameters with(files);
    const auto rows = co_await db_.execute(find_states, with);
    if (!rows)
        co_return rows.error();
    std::vector<upload_news> found;
    for (int i = 0; i < rows->size(); ++i) {
        const auto values = (*rows)[i].as<uuid, bool, bool, bool>();
        if (!values)
            co_return values.error();
        const auto& [file, fetched, acked, past_expiry] = *values;
        found.push_back({file, state_of(fetched, acked, past_expiry)});
    }
    co_return found;
}

}  // namespace restante
