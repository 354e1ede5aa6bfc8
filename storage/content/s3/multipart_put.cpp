#include "storage/content/s3/multipart_put.hpp"

#include "core/encoding.hpp"
#include "core/sha256.hpp"
#include "core/worker_pool.hpp"
#include "storage/content/content_key.hpp"
#include "storage/content/s3/bodies.hpp"

#include <algorithm>
#include <vector>

namespace restante::s3 {

namespace {

using boost::beast::http::verb;

// Some engines put the parts together before they answer.
constexpr auto completion_limit = std::chrono::minutes(2);

// The digest of the whole is known, that of a part is not: the file is read once more, from the page cache as
// a rule. On a worker: nothing else would interrupt 32 MiB that are in memory.
awaitable<result<std::string>> digest_of(file_content& file, stretch part)
{
    sha256 hash;
    file_part bytes(file, part);
    for (;;) {
        const auto piece = co_await bytes.next();
        if (!piece)
            co_return piece.error();
        if (piece->empty())
            co_return to_hex(hash.finish());
        auto job = [&] { return hash.update(*piece), 0; };
        co_await disk_workers().run(job);
    }
}

// Others may have objects in the same bucket, and without a prefix even beside ours.
bool is_ours(const bucket_place& place, std::string_view object)
{
    return object.starts_with(place.prefix) && parse_content_key(object.substr(place.prefix.size()));
}

class part_upload {
public:
    part_upload(session& to, std::string object) : to_(to), object_(std::move(object)) {}

    awaitable<error_code> begin()
    {
        const call what{.method = verb::post, .object = object_, .query = {{"uploads", ""}}};
        const auto attempt = [&]() -> awaitable<judgement> {
            text_body nothing("");
            const auto answer = co_await to_.ask(what, &nothing);
            if (answer.said.what != verdict::done)
                co_return answer.said;
            const auto id = parse_upload_id(answer.document);
            if (!id)
                co_return judgement{verdict::try_again, "the store answers without an upload id"};
            id_ = *id;
            co_return answer.said;
        };
        co_return co_await to_.repeat(access::write, attempt);
    }

    awaitable<error_code> add(file_content& file, stretch part)
    {
        auto digest = co_await digest_of(file, part);
        if (!digest)
            co_return digest.error();
        const call what{.method = verb::put,
                        .object = object_,
                        .query = {{"partNumber", std::to_string(etags_.size() + 1)}, {"uploadId", id_}},
                        .payload = std::move(*digest)};
        std::string etag;
        const auto attempt = [&]() -> awaitable<judgement> {
            file_part body(file, part);
            const auto answer = co_await to_.ask(what, &body, {.bytes = part.size});
            etag = answer.etag;
            co_return answer.said;
        };
        const auto ec = co_await to_.repeat(access::write, attempt);
        etags_.push_back(std::move(etag));
        co_return ec;
    }

    // A repetition whose predecessor was carried out finds no upload any more; then the object tells.
    awaitable<error_code> complete(std::uint64_t size)
    {
        const auto document = make_completion(etags_);
        const call what{.method = verb::post,
                        .object = object_,
                        .query = {{"uploadId", id_}},
                        .payload = to_hex(sha256_of(document))};
        bool repeated = false;
        const auto attempt = [&]() -> awaitable<judgement> {
            if (repeated && co_await is_there(size))
                co_return judgement{};
            repeated = true;
            text_body body(document);
            const auto answer = co_await to_.ask(what, &body, {.work = completion_limit});
            if (answer.said.what == verdict::done && !is_completed(answer.document))
                co_return judgement{verdict::try_again, "the store does not confirm an upload in parts"};
            co_return answer.said;
        };
        co_return co_await to_.repeat(access::write, attempt);
    }

    awaitable<void> abort()
    {
        const call what{.method = verb::delete_, .object = object_, .query = {{"uploadId", id_}}};
        co_await to_.ask(what, nullptr);
    }

private:
    awaitable<bool> is_there(std::uint64_t size)
    {
        const call what{.method = verb::head, .object = object_};
        const auto answer = co_await to_.send(what, nullptr);
        co_return answer.exchange&& answer.exchange->length() == size;
    }

    session& to_;
    std::string object_;
    std::string id_;
    std::vector<std::string> etags_;
};

awaitable<error_code> put_all(part_upload& upload, file_content& file)
{
    const auto size = file.size();
    for (std::uint64_t first = 0; first < size; first += part_size) {
        const stretch part{first, std::min(part_size, size - first)};
        if (const auto ec = co_await upload.add(file, part))
            co_return ec;
    }
    co_return co_await upload.complete(size);
}

}  // namespace

awaitable<error_code> put_in_parts(session& to, std::string object, file_content& file)
{
    part_upload upload(to, std::move(object));
    if (const auto ec = co_await upload.begin())
        co_return ec;
    const auto ec = co_await put_all(upload, file);
    if (ec)
        co_await upload.abort();
    co_return ec;
}

awaitable<result<std::size_t>> abort_stale_uploads(session& at, timestamp begun_before)
{
    const call what{.query = {{"prefix", at.place().prefix}, {"uploads", ""}}};
    std::vector<begun_upload> begun;
    const auto attempt = [&]() -> awaitable<judgement> {
        const auto answer = co_await at.ask(what, nullptr);
        if (answer.said.what != verdict::done)
            co_return answer.said;
        auto read = parse_uploads(answer.document);
        if (!read)
            co_return judgement{verdict::try_again, "the store's list of uploads cannot be read"};
        begun = std::move(*read);
        co_return answer.said;
    };
    if (const auto ec = co_await at.repeat(access::read, attempt))
        co_return ec;
    std::size_t aborted = 0;
    for (const auto& each : begun) {
        if (each.begun >= begun_before || !is_ours(at.place(), each.key))
            continue;
        const call end{.method = verb::delete_, .object = each.key, .query = {{"uploadId", each.id}}};
        const auto answer = co_await at.ask(end, nullptr);
        aborted += answer.said.what == verdict::done ? 1 : 0;
    }
    co_return aborted;
}

}  // namespace restante::s3
