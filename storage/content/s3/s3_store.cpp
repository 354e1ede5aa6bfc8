#include "storage/content/s3/s3_store.hpp"

#include "core/log.hpp"
#include "storage/content/at_once.hpp"
#include "storage/content/content_key.hpp"
#include "storage/content/s3/multipart_put.hpp"
#include "storage/content/s3/object_reader.hpp"
#include "storage/content/s3/objects.hpp"
#include "storage/content/s3/put.hpp"

#include <algorithm>

namespace restante {

namespace {

constexpr auto probe_check = std::chrono::milliseconds(200);
constexpr auto cleaning_interval = std::chrono::hours(1);
// A form of many files takes as long as some of them, and leaves the engine something for others.
constexpr std::size_t puts_at_once = 4;
constexpr auto stale_upload = std::chrono::hours(24);

dial_options dial_options_of(name_resolver& names, const tls_context& tls)
{
    // The endpoint is the operator's choice, unlike the URLs that workspaces register.
    return {.names = names,
            .judge = [](const asio::ip::address&) { return true; },
            .tls = tls,
            .connect_limit = std::chrono::seconds(5)};
}

// However the task ends: connections that wait for their next request would keep the shard from ending.
class stop_at_end {
public:
    explicit stop_at_end(http_client& what) : what_(what) {}
    stop_at_end(const stop_at_end&) = delete;
    stop_at_end& operator=(const stop_at_end&) = delete;
    ~stop_at_end() { what_.stop(); }

private:
    http_client& what_;
};

class s3_reader final : public content_reader {
public:
    explicit s3_reader(s3::object_reader from) : from_(std::move(from)) {}

    awaitable<error_code> open() { return from_.open(); }
    awaitable<result<std::span<const char>>> next() override { return from_.next(); }

private:
    s3::object_reader from_;
};

}  // namespace

s3_store::s3_store(executor ex, s3_bucket& bucket)
    : client_(ex, dial_options_of(names_, bucket.tls)),
      bucket_(bucket),
      session_(client_, bucket.place, bucket.keys, bucket.state)
{
}

awaitable<error_code> s3_store::write(std::span<const content_to_store> files)
{
    // Kept by the tasks that put them, however this ends.
    const auto all = std::make_shared<const std::vector<content_to_store>>(files.begin(), files.end());
    auto put = [this, all](std::size_t which) -> awaitable<error_code> { return put_one((*all)[which]); };
    co_return co_await do_at_once(all->size(), puts_at_once, put);
}

awaitable<error_code> s3_store::put_one(const content_to_store& file)
{
    auto to = session_.for_request(file.trace);
    auto object = bucket_.place.object(file.key);
    co_return co_await s3::put_object(to, std::move(object), *file.bytes, file.sha256);
}

awaitable<result<std::unique_ptr<content_reader>>> s3_store::open(stored_content what, content_part part)
{
    const s3::stretch stretch{part.first, part.length};
    s3::object_reader from(session_.for_request(what.trace), bucket_.place.object(what.key), what.size,
                           stretch);
    auto reader = std::make_unique<s3_reader>(std::move(from));
    if (const auto ec = co_await reader->open())
        co_return ec;
    co_return reader;
}

awaitable<result<std::vector<std::string>>> s3_store::remove(std::span<const std::string> keys)
{
    std::vector<std::string> all_kept;
    while (!keys.empty()) {
        const auto batch = keys.first(std::min(keys.size(), s3::largest_removal));
        keys = keys.subspan(batch.size());
        std::vector<std::string> objects;
        for (const auto& key : batch)
            objects.push_back(bucket_.place.object(key));
        const auto kept = co_await s3::remove_objects(session_, std::move(objects));
        if (!kept)
            co_return kept.error();
        for (const auto& object : *kept)
            all_kept.push_back(object.substr(std::min(object.size(), bucket_.place.prefix.size())));
    }
    if (!all_kept.empty())
        log_line(log_level::warn, "content_not_removed")
            .field("store", "s3")
            .field("files", std::uint64_t{all_kept.size()})
            .field("first", all_kept.front());
    co_return all_kept;
}

awaitable<result<std::vector<listed_content>>> s3_store::list(std::string after, std::string before,
                                                              std::size_t limit)
{
    std::vector<listed_content> found;
    auto last = after.empty() ? std::string() : bucket_.place.object(after);
    for (;;) {
        const auto page = co_await s3::list_objects(session_, last, limit - found.size());
        if (!page)
            co_return page.error();
        for (const auto& each : page->objects) {
            const auto key = each.key.substr(std::min(each.key.size(), bucket_.place.prefix.size()));
            if (!before.empty() && key >= before)
                co_return found;
            if (each.key.starts_with(bucket_.place.prefix) && parse_content_key(key))
                found.push_back({key, each.size});
        }
        if (page->next.empty() || page->objects.empty() || found.size() >= limit)
            co_return found;
        last = page->objects.back().key;
    }
}

std::optional<std::string> s3_store::trouble() const
{
    return bucket_.state.trouble();
}

bool s3_store::has_room(std::uint64_t) const
{
    return !bucket_.state.refuses(s3::access::write);
}

awaitable<void> s3_store::run(task_group& until)
{
    const stop_at_end guard(client_);
    while (!co_await until.stopped_within(probe_check)) {
        if (bucket_.state.wants_probe())
            co_await s3::probe(session_);
        co_await clean_up();
    }
}

// By one shard of the process; several processes do no harm to each other.
awaitable<void> s3_store::clean_up()
{
    const auto now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
    const auto seconds = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
    auto due = bucket_.next_cleaning.load();
    const auto next = seconds + std::chrono::seconds(cleaning_interval).count();
    if (seconds < due || trouble() || !bucket_.next_cleaning.compare_exchange_strong(due, next))
        co_return;
    const auto aborted = co_await s3::abort_stale_uploads(session_, now - stale_upload);
    if (aborted && *aborted > 0)
        log_line(log_level::info, "s3_uploads_aborted").field("uploads", std::uint64_t{*aborted});
}

}  // namespace restante
