#include "storage/pending_uploads.hpp"

#include "core/fault_point.hpp"
#include "storage/digest_column.hpp"
#include "storage/pq/copy.hpp"

namespace restante {

namespace {

const statement read_expiry{"read_expiry", "SELECT now() + $1::int8 * interval '1 microsecond'"};

const std::string copy_files =
    "COPY pending_uploads (file_id, workspace_id, size_bytes, filename, mimetype, sha256, original_name, "
    "activity_id, expires_at, staged_by, content_place, content_key, content) FROM STDIN (FORMAT binary)";

std::int64_t size_of(const new_file& file)
{
    return static_cast<std::int64_t>(file.content->size());
}

// Everything of a row but the bytes of its content, which come last so that they can be streamed.
void encode_row(std::string& out, const new_file& file, const uuid& workspace, timestamp expires_at)
{
    using encode = pq::copy_encoder;
    encode::row(out, 13);
    encode::add(out, file.file_id);
    encode::add(out, workspace);
    encode::add(out, size_of(file));
    encode::add(out, std::string_view(file.filename));
    encode::add(out, std::string_view(file.mimetype));
    const auto digest = as_blob(file.sha256);
    encode::add(out, std::string_view(digest.data(), digest.size()));
    encode::add(out, std::string_view(file.original_name));
    encode::add(out, file.activity_id);
    encode::add(out, expires_at);
    if (file.staged_by)
        encode::add(out, *file.staged_by);
    else
        encode::null(out);
    encode::add(out, name_of(file.place));
    if (!file.is_inline()) {
        encode::add(out, std::string_view(file.key));
        encode::null(out);
        return;
    }
    encode::null(out);
    encode::length(out, static_cast<std::int32_t>(size_of(file)));
}

awaitable<error_code> copy_content(pq::copy_in& to, file_content& from, std::span<char> block)
{
    std::uint64_t done = 0;
    while (done < from.size()) {
        auto piece = co_await from.read(done, block);
        if (!piece)
            co_return piece.error();
        if (piece->empty())
            co_return RESTANTE_ERROR(errc::io_error);
        if (auto ec = co_await to.write(*piece))
            co_return ec;
        done += piece->size();
    }
    co_return error_code{};
}

}  // namespace

error_code pending_uploads::validate(std::span<const new_file> files)
{
    for (const auto& file : files) {
        if (!file.content || file.content->size() == 0 || file.filename.empty() || file.filename.size() > 100)
            return RESTANTE_ERROR(errc::invalid_file);
        if (file.content->size() > (file.is_inline() ? largest_file : largest_stored_file))
            return RESTANTE_ERROR(errc::too_large);
    }
    return {};
}

pq::lane pending_uploads::lane_for(std::span<const new_file> files)
{
    std::uint64_t total = 0;
    for (const auto& file : files) {
        if (!file.is_inline())
            continue;
        total += file.content->size();
        if (total > small_request_bytes || !file.content->in_memory())
            return pq::lane::large;
    }
    return pq::lane::small;
}

std::uint64_t pending_uploads::inline_size(std::span<const new_file> files)
{
    std::uint64_t total = 0;
    for (const auto& file : files)
        total += file.is_inline() ? file.content->size() : 0;
    return total;
}

awaitable<result<std::vector<uuid>>> pending_uploads::put_batch_tx(pq::transaction& tx, uuid workspace,
                                                                   std::span<const new_file> files)
{
    if (auto ec = validate(files))
        co_return ec;
    std::vector<uuid> ids;
    std::vector<file_of_workspace> rows;
    for (const auto& file : files) {
        ids.push_back(file.file_id);
        rows.push_back({workspace, &file});
    }
    if (files.empty())
        co_return ids;
    if (lane_for(files) == pq::lane::small) {
        queue_rows_tx(tx, rows);
        co_return ids;
    }
    if (auto ec = co_await copy_rows(tx, workspace, files))
        co_return ec;
    co_return ids;
}

awaitable<error_code> pending_uploads::copy_rows(pq::transaction& tx, uuid workspace,
                                                 std::span<const new_file> files)
{
    // COPY takes values, not expressions, so the database's clock is read first.
    const pq::parameters ttl(static_cast<std::int64_t>(ttl_.count()));
    auto answer = co_await tx.execute(read_expiry, ttl);
    if (!answer)
        co_return answer.error();
    const auto expires_at = (*answer)[0][0].as<timestamp>();
    if (!expires_at)
        co_return expires_at.error();

    auto copy = co_await tx.copy(copy_files);
    if (!copy)
        co_return copy.error();
    std::vector<char> block(64 * 1024);
    std::string head;
    pq::copy_encoder::header(head);
    for (const auto& file : files) {
        encode_row(head, file, workspace, *expires_at);
        if (auto ec = co_await copy->write(head))
            co_return ec;
        head.clear();
        if (!file.is_inline())
            continue;
        if (auto ec = co_await copy_content(*copy, *file.content, block)) {
            if (!tx.session().broken())
                co_await copy->abort("the spooled file cannot be read");
            co_return ec;
        }
        fault_point("row_written");
    }
    pq::copy_encoder::trailer(head);
    if (auto ec = co_await copy->write(head))
        co_return ec;
    co_return co_await copy->finish();
}

awaitable<result<std::vector<uuid>>> pending_uploads::put_batch(uuid workspace, std::vector<new_file> files)
{
    if (auto ec = validate(files))
        co_return ec;
    if (files.empty())
        co_return std::vector<uuid>{};
    auto tx = co_await db_.begin(lane_for(files));
    if (!tx)
        co_return tx.error();
    auto ids = co_await put_batch_tx(*tx, workspace, files);
    if (!ids)
        co_return ids.error();
    auto done = co_await tx->commit();
    if (!done)
        co_return done.error();
    co_return std::move(*ids);
}

awaitable<result<uuid>> pending_uploads::put(uuid workspace, new_file file)
{
    std::vector<new_file> one;
    one.push_back(std::move(file));
    auto ids = co_await put_batch(workspace, std::move(one));
    if (!ids)
        co_return ids.error();
    co_return ids->front();
}

}  // namespace restante
