#include "core/uuid_time.hpp"
#include "storage/digest_column.hpp"
#include "storage/pending_uploads.hpp"
#include "storage/standby_contents.hpp"

namespace restante {

namespace {

#define STAGED_FILE_COLUMNS                                                                                  \
    "file_id, workspace_id, filename, original_name, mimetype, size_bytes, sha256, created_at, fetched_at, " \
    "expires_at, content_place, content_key"

const statement get_file{"get_file",
                         "SELECT " STAGED_FILE_COLUMNS
                         ", CASE WHEN size_bytes <= $3::int8 THEN content END "
                         "FROM pending_uploads "
                         "WHERE file_id = $1::uuid AND workspace_id = $2::uuid "
                         "AND CASE WHEN acked_at IS NULL THEN expires_at > now() ELSE $4::bool END"};

const statement list_files{
    "list_files",
    "SELECT " STAGED_FILE_COLUMNS
    " FROM pending_uploads "
    "WHERE workspace_id = $1::uuid AND acked_at IS NULL AND expires_at > now() "
    "AND (created_at, file_id) > ("
    "coalesce((SELECT created_at FROM pending_uploads WHERE file_id = $3::uuid AND workspace_id = $1::uuid), "
    "$4::timestamptz, '-infinity'), coalesce($3::uuid, '00000000-0000-0000-0000-000000000000')) "
    "ORDER BY created_at, file_id LIMIT $2::int8"};

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
                         std::optional<timestamp>, timestamp, std::string_view, std::optional<text>>();
    if (!values)
        return values.error();
    auto& [file, workspace, name, original, mimetype, size, sha256, created, fetched, expires, where, key] =
        *values;
    const auto digest = as_digest(sha256);
    if (!digest)
        return digest.error();
    const auto place = content_place_named(where);
    if (!place)
        return RESTANTE_ERROR(errc::content_store_unavailable);  // of a later version
    return staged_file{file,    workspace, std::move(name), std::move(original), std::move(mimetype), size,
                       *digest, created,   fetched,         expires,             *place,
                       std::move(key).value_or("")};
}

// Whether get() includes its bytes.
bool comes_with_its_row(const staged_file& file)
{
    return file.place == content_place::inline_ && file.size <= pending_uploads::inline_bytes;
}

}  // namespace

awaitable<result<fetched_file>> pending_uploads::get(uuid workspace, uuid file, want what, acked those)
{
    if (what == want::facts)
        co_return co_await read_row(workspace, file, 0, those);
    if (!elsewhere_ || !elsewhere_->usable())
        co_return co_await read_row(workspace, file, inline_bytes, those);
    auto found = co_await read_row(workspace, file, standby_contents::min_bytes, those);
    if (!found || found->content || !comes_with_its_row(found->file))
        co_return found;
    auto row = co_await elsewhere_->read(found->file);
    if (!row)
        co_return co_await read_row(workspace, file, inline_bytes, those);
    found->content = (*row)[0][0].as<pq::blob>().value();
    found->holder = std::make_shared<const pq::result_set>(std::move(*row));
    found->verified = true;
    co_return found;
}

awaitable<result<fetched_file>> pending_uploads::read_row(uuid workspace, uuid file,
                                                          std::int64_t inline_limit, acked those)
{
    const pq::parameters with(file, workspace, inline_limit, those == acked::shown);
    auto rows = co_await db_.execute(get_file, with, workspace);
    if (!rows)
        co_return rows.error();
    if (rows->empty())
        co_return RESTANTE_ERROR(errc::not_found);
    auto described = read_staged_file((*rows)[0]);
    if (!described)
        co_return described.error();
    const auto content = (*rows)[0][12].as<std::optional<pq::blob>>();
    if (!content)
        co_return content.error();
    co_return fetched_file{std::move(*described), *content,
                           std::make_shared<const pq::result_set>(std::move(*rows))};
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

}  // namespace restante
