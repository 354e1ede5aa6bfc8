#include "core/uuid_time.hpp"
#include "storage/pending_uploads.hpp"

namespace restante {

namespace {

#define STAGED_FILE_COLUMNS                                                                                  \
    "file_id, workspace_id, filename, original_name, mimetype, size_bytes, sha256, created_at, fetched_at, " \
    "expires_at"

const statement get_file{"get_file",
                         "SELECT " STAGED_FILE_COLUMNS
                         ", CASE WHEN size_bytes <= $3::int8 THEN content END "
                         "FROM pending_uploads "
                         "WHERE file_id = $1::uuid AND workspace_id = $2::uuid "
                         "AND CASE WHEN acked_at IS NULL THEN expires_at > now() ELSE $4::bool END"};

// A row never changes its bytes, so a snapshot is only needed to keep a row that is deleted meanwhile.
const statement hold_snapshot{"hold_snapshot", "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"};

const statement read_slice{"read_slice",
                           "SELECT substring(content FROM $3::int4 FOR $4::int4) FROM pending_uploads "
                           "WHERE file_id = $1::uuid AND workspace_id = $2::uuid"};

const statement list_files{
    "list_files",
    "SELECT " STAGED_FILE_COLUMNS
    " FROM pending_uploads "
    "WHERE workspace_id = $1::uuid AND acked_at IS NULL AND expires_at > now() "
    "AND (created_at, file_id) > ("
    "coalesce((SELECT created_at FROM pending_uploads WHERE file_id = $3::uuid AND workspace_id = $1::uuid), "
    "$4::timestamptz, '-infinity'), coalesce($3::uuid, '00000000-0000-0000-0000-000000000000')) "
    "ORDER BY created_at, file_id LIMIT $2::int8"};

// `found` is what the snapshot shows; `locked` is what is left of it once all rows are locked, in the order
// of their ids so that two of these never deadlock. A row that was found and could not be locked has been
// swept in between.
const statement ack_files{
    "ack_files",
    "WITH found AS ("
    "SELECT file_id, filename, mimetype, size_bytes, acked_at FROM pending_uploads "
    "WHERE workspace_id = $1::uuid AND file_id = ANY ($2::uuid[]) "
    "AND (acked_at IS NOT NULL OR expires_at > now())), "
    "locked AS ("
    "SELECT file_id FROM pending_uploads "
    "WHERE workspace_id = $1::uuid AND file_id = ANY ($2::uuid[]) "
    "AND (acked_at IS NOT NULL OR expires_at > now()) "
    "ORDER BY file_id FOR NO KEY UPDATE), "
    "marked AS ("
    "UPDATE pending_uploads AS u SET acked_at = now() FROM locked "
    "WHERE u.file_id = locked.file_id AND u.acked_at IS NULL) "
    "SELECT found.file_id, found.filename, found.mimetype, found.size_bytes, found.acked_at IS NOT NULL, "
    "locked.file_id IS NULL FROM found LEFT JOIN locked USING (file_id)"};

// Locked in the same order as acks, for the same reason.
const statement stamp_fetched{
    "stamp_fetched",
    "WITH fetched AS ("
    "SELECT u.file_id FROM pending_uploads AS u "
    "JOIN (SELECT DISTINCT * FROM unnest($1::uuid[], $2::uuid[])) AS f (workspace_id, file_id) "
    "ON u.file_id = f.file_id AND u.workspace_id = f.workspace_id "
    "ORDER BY u.file_id FOR NO KEY UPDATE OF u) "
    "UPDATE pending_uploads AS u SET fetched_at = now() FROM fetched WHERE u.file_id = fetched.file_id"};

// What a slice costs in memory, twice: once in libpq's buffer, once in the result.
constexpr std::uint64_t slice_bytes = 256 * 1024;

// Where a list goes on after a file that has been swept. Its row had the database's time, its id has ours.
std::optional<timestamp> position_without_row(const std::optional<uuid>& file)
{
    constexpr auto largest_difference = std::chrono::minutes(5);
    const auto made = file ? time_of_uuid_v7(*file) : std::nullopt;
    return made ? std::optional<timestamp>(*made - largest_difference) : std::nullopt;
}

result<staged_file> read_staged_file(const pq::row& row)
{
    using text = std::string;
    auto values = row.as<uuid, uuid, text, std::optional<text>, text, std::int64_t, pq::blob, timestamp,
                         std::optional<timestamp>, timestamp>();
    if (!values)
        return values.error();
    auto& [file, workspace, name, original, mimetype, size, sha256, created, fetched, expires] = *values;
    staged_file out{file,    workspace, std::move(name), std::move(original), std::move(mimetype), size, {},
                    created, fetched,   expires};
    if (sha256.size() != out.sha256.size())
        return RESTANTE_ERROR(errc::wrong_column_type);
    std::copy(sha256.begin(), sha256.end(), out.sha256.begin());
    return out;
}

}  // namespace

awaitable<result<fetched_file>> pending_uploads::get(uuid workspace, uuid file, want what, acked those)
{
    const std::int64_t inline_limit = what == want::content ? inline_bytes : 0;
    const pq::parameters with(file, workspace, inline_limit, those == acked::shown);
    auto rows = co_await db_.execute(get_file, with, workspace);
    if (!rows)
        co_return rows.error();
    if (rows->empty())
        co_return RESTANTE_ERROR(errc::not_found);
    auto described = read_staged_file((*rows)[0]);
    if (!described)
        co_return described.error();
    const auto content = (*rows)[0][10].as<std::optional<pq::blob>>();
    if (!content)
        co_return content.error();
    co_return fetched_file{std::move(*described), *content,
                           std::make_shared<const pq::result_set>(std::move(*rows))};
}

awaitable<error_code> pending_uploads::read_content(uuid workspace, uuid file, std::uint64_t first,
                                                    std::uint64_t length, content_sink& to)
{
    auto tx = co_await db_.begin(pq::lane::large, workspace);
    if (!tx)
        co_return tx.error();
    pq::parameters none;
    tx->queue(hold_snapshot, none);
    for (const auto end = first + length; first < end;) {
        const auto wanted = std::min(slice_bytes, end - first);
        const pq::parameters with(file, workspace, static_cast<std::int32_t>(first + 1),
                                  static_cast<std::int32_t>(wanted));
        auto rows = co_await tx->execute(read_slice, with);
        if (!rows)
            co_return rows.error();
        if (rows->empty())
            co_return RESTANTE_ERROR(errc::not_found);
        const auto slice = (*rows)[0][0].as<pq::blob>();
        if (!slice)
            co_return slice.error();
        if (slice->size() != wanted)
            co_return RESTANTE_ERROR(errc::internal_error);
        if (auto ec = co_await to.write(*slice))
            co_return ec;
        first += wanted;
    }
    auto done = co_await tx->commit();
    if (!done)
        co_return done.error();
    co_return error_code{};
}

awaitable<result<std::vector<staged_file>>> pending_uploads::list(uuid workspace, int limit,
                                                                  std::optional<uuid> after)
{
    const pq::parameters with(workspace, std::int64_t{limit}, after, position_without_row(after));
    auto rows = co_await db_.execute(list_files, with, workspace);
    if (!rows)
        co_return rows.error();
    std::vector<staged_file> files;
    files.reserve(static_cast<std::size_t>(rows->size()));
    for (int i = 0; i < rows->size(); ++i) {
        auto file = read_staged_file((*rows)[i]);
        if (!file)
            co_return file.error();
        files.push_back(std::move(*file));
    }
    co_return files;
}

awaitable<result<std::vector<acked_file>>> pending_uploads::ack(uuid workspace, std::span<const uuid> files)
{
    const pq::parameters with(workspace, files);
    auto rows = co_await db_.execute(ack_files, with, workspace);
    if (!rows)
        co_return rows.error();
    co_return rows->all<acked_file, uuid, std::string, std::string, std::int64_t, bool, bool>();
}

awaitable<result<void>> pending_uploads::mark_fetched(std::span<const uuid> workspaces,
                                                      std::span<const uuid> files)
{
    const pq::parameters with(workspaces, files);
    auto done = co_await db_.execute(stamp_fetched, with);
    if (!done)
        co_return done.error();
    co_return result<void>();
}

}  // namespace restante
