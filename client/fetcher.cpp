#include "client/fetcher.hpp"

#include "client/content_head.hpp"
#include "client/terminal_text.hpp"
#include "core/fault_point.hpp"

namespace restante::client {

namespace {

namespace http = boost::beast::http;

constexpr std::size_t block_size = 256 * 1024;
// The server copies a large file aside before it sends the first byte.
constexpr auto time_for_head = std::chrono::minutes(2);

content_head head_of(const client_exchange& from)
{
    return {.status = from.head().result_int(),
            .length = from.length(),
            .content_range = field_of(from.head(), http::field::content_range),
            .etag = field_of(from.head(), http::field::etag),
            .content_encoding = field_of(from.head(), http::field::content_encoding)};
}

client_request request_for(const fetch_places& at, const announced_file& what, std::uint64_t from)
{
    auto request = at.api.make_request(http::verb::get,
                                       at.workspace + "/pending-uploads/" + to_string(what.id) + "/content");
    if (from > 0) {
        request.fields.push_back({"Range", "bytes=" + std::to_string(from) + '-'});
        request.fields.push_back({"If-Range", '"' + what.sha256 + '"'});
    }
    return request;
}

awaitable<failure> refusal(client_exchange& from, const announced_file& what)
{
    const auto got = co_await read_answer(from);
    if (!got)
        co_return got.error();
    if (got->status == 404 && error_code_of(got->body) == "not_found")
        co_return failure{exit_code::failed, "gone",
                          printable(what.name) + " is not there any more: it was acked or has expired."};
    co_return failure_of(*got, "fetching " + printable(what.name));
}

// Copies the body to the file, in blocks that are worth a change of threads.
class body_copy {
public:
    body_copy(fetch_places& at, client_exchange& from, partial_file& to, const announced_file& what)
        : at_(at), from_(from), to_(to), what_(what)
    {
    }

    awaitable<outcome<void>> run(progress_display::transfer& shown)
    {
        for (;;) {
            const auto piece = co_await from_.read_some();
            const bool over = !piece || piece->empty();
            if (!over) {
                shown.advance(piece->size());
                block_.insert(block_.end(), piece->begin(), piece->end());
                if (to_.size() + block_.size() > what_.size)
                    co_return lie("wrong_length", "The server sends more bytes than the file has.");
            }
            // What came before a break is good for the next try.
            if (block_.size() >= block_size || (over && !block_.empty()))
                if (auto written = co_await write_block(); !written)
                    co_return written;
            if (!piece)
                co_return network_failure(piece.error(), "fetching " + printable(what_.name));
            if (over)
                break;
        }
        if (to_.size() != what_.size)
            co_return lie("short_body", "The server sent fewer bytes than the file has.");
        co_return outcome<void>();
    }

private:
    awaitable<outcome<void>> write_block()
    {
        auto append = [this] { return to_.append(block_); };
        auto written = co_await at_.workers.run(append);
        block_.clear();
        fault_point("client_partial");
        co_return written;
    }

    static failure lie(std::string code, std::string text)
    {
        return {exit_code::gave_up, std::move(code), std::move(text), true};
    }

    fetch_places& at_;
    client_exchange& from_;
    partial_file& to_;
    const announced_file& what_;
    std::vector<char> block_;
};

awaitable<outcome<void>> fetch_rest(fetch_places& at, const announced_file& what, partial_file& file,
                                    progress_display::transfer& shown)
{
    auto restart = [&file] { return file.restart(); };
    // Without a digest nobody could tell that the rest belongs to the same file.
    const bool useless = file.size() > what.size || (file.size() > 0 && what.sha256.empty());
    if (useless)
        if (auto done = co_await at.workers.run(restart); !done)
            co_return done;
    auto reserve = [&file, &what] { return file.reserve(what.size); };
    if (auto room = co_await at.workers.run(reserve); !room) {
        auto why = room.error();
        why.text = printable(what.name) + ": " + why.text;
        co_return why;
    }

    const client_limits limits{.whole = std::chrono::hours(24), .head = time_for_head};
    const auto one = at.api.begin(limits);
    auto request = request_for(at, what, file.size());
    if (const auto ec = co_await one->send(std::move(request), nullptr))
        co_return network_failure(ec, "fetching " + printable(what.name));
    const auto status = one->head().result_int();
    if (status == 416) {
        if (auto done = co_await at.workers.run(restart); !done)
            co_return done;
        co_return failure{exit_code::gave_up, "wrong_range", "The server has no such part of the file.",
                          true};
    }
    if (status != 200 && status != 206)
        co_return co_await refusal(*one, what);
    const auto begins = check_content(head_of(*one), file.size(), what.size, what.sha256);
    if (!begins) {
        // A server that is confused about the rest may be right about the whole.
        if (auto done = co_await at.workers.run(restart); !done)
            co_return done;
        co_return begins.error();
    }
    if (*begins == 0 && file.size() > 0) {
        if (auto done = co_await at.workers.run(restart); !done)
            co_return done;
        shown.set_done(0);
    }
    body_copy copy(at, *one, file, what);
    co_return co_await copy.run(shown);
}

}  // namespace

awaitable<outcome<partial_file>> fetch(fetch_places& at, const announced_file& what,
                                       progress_display::transfer& shown)
{
    auto open = [&] { return partial_file::open(at.partials, what.id); };
    auto file = co_await at.workers.run(open);
    if (!file)
        co_return file.error();
    shown.set_done(file->size());
    if (file->size() != what.size)
        if (auto fetched = co_await fetch_rest(at, what, *file, shown); !fetched)
            co_return fetched.error();
    if (file->finish_digest() == what.sha256 || what.sha256.empty()) {
        fault_point("client_complete");
        co_return file;
    }
    auto restart = [&file] { return file->restart(); };
    if (auto done = co_await at.workers.run(restart); !done)
        co_return done.error();
    co_return failure{exit_code::gave_up, "digest_mismatch",
                      printable(what.name) + " arrived with other bytes than its SHA-256 says.", true};
}

}  // namespace restante::client
