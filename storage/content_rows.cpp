#include "storage/content_rows.hpp"

#include "storage/digest_column.hpp"
#include "storage/pq/transaction.hpp"

namespace restante {

namespace {

// What is queued for removal is no orphan: a download that broke off may still ask for its rest. The end of a
// snapshot says only what has ended, so the statement takes a transaction's number of its own: all that run
// already have smaller ones.
const statement find_orphans{
    "find_content_orphans",
    "SELECT coalesce((SELECT array_agg(k.key) FROM unnest($1::text[]) AS k (key) WHERE NOT EXISTS ("
    "SELECT FROM pending_uploads AS u WHERE u.content_key = k.key) AND NOT EXISTS ("
    "SELECT FROM content_removals AS r WHERE r.content_key = k.key)), '{}'), "
    "pg_snapshot_xmin(pg_current_snapshot())::text::int8, pg_current_xact_id()::text::int8"};

const statement read_clock{"content_clock", "SELECT now()"};

// The migration that made keys.
const statement read_beginning{
    "content_beginning", "SELECT coalesce(min(applied_at), now()) FROM schema_migrations WHERE number >= 14"};

const statement read_places{"content_places", "SELECT place, files, bytes FROM stored_by_place()"};

#define CONTENT_ROW_COLUMNS \
    "file_id, workspace_id, content_place, coalesce(content_key, ''), size_bytes, sha256"

const statement count_rows{"count_content_rows",
                           "SELECT count(*), coalesce(sum(size_bytes), 0)::int8 FROM pending_uploads"};

const statement page_of_rows{
    "page_of_content_rows", "SELECT " CONTENT_ROW_COLUMNS
                            " FROM pending_uploads WHERE file_id > $1::uuid ORDER BY file_id LIMIT $2::int8"};

const statement find_row{"find_content_row",
                         "SELECT " CONTENT_ROW_COLUMNS " FROM pending_uploads WHERE file_id = $1::uuid"};

const statement move_row{
    "move_content_row",
    "WITH moved AS (UPDATE pending_uploads SET content_place = $4::text, content_key = $5::text, "
    "content = $6::bytea WHERE file_id = $1::uuid AND content_place = $2::text "
    "AND coalesce(content_key, '') = $3::text RETURNING file_id), "
    "queued AS (INSERT INTO content_removals (content_place, content_key) "
    "SELECT $2::text, $3::text FROM moved WHERE $3::text <> '') "
    "SELECT count(*) FROM moved"};

const statement withdraw_key{
    "withdraw_content_removal",
    "WITH withdrawn AS (DELETE FROM content_removals WHERE content_place = $1::text AND content_key = $2::text "
    "AND (claimed_until IS NULL OR claimed_until < now())) "
    "SELECT count(*) FROM content_removals WHERE content_place = $1::text AND content_key = $2::text "
    "AND claimed_until >= now()"};

result<content_row> read_row(const pq::row& row)
{
    auto values = row.as<uuid, uuid, std::string_view, std::string, std::int64_t, pq::blob>();
    if (!values)
        return values.error();
    auto& [file, workspace, where, key, size, sha256] = *values;
    const auto place = content_place_named(where);
    const auto digest = as_digest(sha256);
    if (!place || !digest)
        return RESTANTE_ERROR(errc::wrong_column_type);
    return content_row{*place, {file, workspace, std::move(key), static_cast<std::uint64_t>(size), *digest}};
}

}  // namespace

awaitable<result<content_totals>> content_rows::totals()
{
    const auto rows = co_await db_.execute(count_rows);
    if (!rows)
        co_return rows.error();
    co_return (*rows)[0].into<content_totals, std::int64_t, std::int64_t>();
}

awaitable<result<std::vector<content_row>>> content_rows::page(uuid after, int limit)
{
    const pq::parameters with(after, std::int64_t{limit});
    const auto rows = co_await db_.execute(page_of_rows, with);
    if (!rows)
        co_return rows.error();
    std::vector<content_row> page;
    for (int i = 0; i < rows->size(); ++i) {
        auto row = read_row((*rows)[i]);
        if (!row)
            co_return row.error();
        page.push_back(std::move(*row));
    }
    co_return page;
}

awaitable<result<std::optional<content_row>>> content_rows::find(uuid file)
{
    const pq::parameters with(file);
    const auto rows = co_await db_.execute(find_row, with);
    if (!rows)
        co_return rows.error();
    if (rows->empty())
        co_return std::optional<content_row>();
    auto row = read_row((*rows)[0]);
    if (!row)
        co_return row.error();
    co_return std::optional<content_row>(std::move(*row));
}

awaitable<result<std::int64_t>> content_rows::withdraw_removal(content_place place, std::string key)
{
    const pq::parameters with(name_of(place), std::string_view(key));
    const auto rows = co_await db_.execute(withdraw_key, with);
    if (!rows)
        co_return rows.error();
    co_return (*rows)[0][0].as<std::int64_t>();
}

awaitable<result<std::int64_t>> content_rows::move(const content_row& from, content_place to, std::string key,
                                                   std::optional<std::span<const char>> bytes)
{
    std::optional<std::string_view> new_key;
    if (to != content_place::inline_)
        new_key = key;
    const pq::parameters with(from.content.file_id, name_of(from.place), from.content.key, name_of(to),
                              new_key, bytes);
    const auto rows = co_await db_.execute(move_row, with);
    if (!rows)
        co_return rows.error();
    co_return (*rows)[0][0].as<std::int64_t>();
}

awaitable<result<keys_without_row>> content_rows::without_row(std::span<const std::string> keys)
{
    const std::vector<std::string_view> texts(keys.begin(), keys.end());
    const pq::parameters with{std::span<const std::string_view>(texts)};
    const auto rows = co_await db_.execute(find_orphans, with);
    if (!rows)
        co_return rows.error();
    auto values = (*rows)[0].as<std::vector<std::string>, std::int64_t, std::int64_t>();
    if (!values)
        co_return values.error();
    auto& [orphans, oldest, next] = *values;
    co_return keys_without_row{std::move(orphans), {oldest, next}};
}

awaitable<result<timestamp>> content_rows::now()
{
    const auto rows = co_await db_.execute(read_clock);
    if (!rows)
        co_return rows.error();
    co_return (*rows)[0][0].as<timestamp>();
}

awaitable<result<timestamp>> content_rows::beginning()
{
    const auto rows = co_await db_.execute(read_beginning);
    if (!rows)
        co_return rows.error();
    co_return (*rows)[0][0].as<timestamp>();
}

awaitable<result<std::vector<stored_figures>>> content_rows::figures()
{
    const auto rows = co_await db_.execute(read_places);
    if (!rows)
        co_return rows.error();
    std::vector<stored_figures> all;
    for (int i = 0; i < rows->size(); ++i) {
        auto each = (*rows)[i].into<stored_figures, std::string, std::int64_t, std::int64_t>();
        if (!each)
            co_return each.error();
        all.push_back(std::move(*each));
    }
    co_return all;
}

}  // namespace restante
