#include "storage/content/s3/objects.hpp"

#include "core/encoding.hpp"
#include "storage/content/s3/bodies.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

namespace restante::s3 {

namespace {

using boost::beast::http::verb;

constexpr std::size_t largest_page = 1000;
// Engines remove the objects of one call one after the other.
constexpr std::chrono::milliseconds removal_limit(200);

// DeleteObjects demands it, as a check and not as a proof.
std::string md5_of(std::string_view text)
{
    std::array<unsigned char, 16> digest{};
    unsigned length = 0;
    ::EVP_Digest(text.data(), text.size(), digest.data(), &length, ::EVP_md5(), nullptr);
    return to_base64(digest);
}

call list_call(const bucket_place& place, const std::string& after, std::size_t most)
{
    call what{.query = {{"list-type", "2"}, {"max-keys", std::to_string(most)}}};
    if (!place.prefix.empty())
        what.query.emplace_back("prefix", place.prefix);
    if (!after.empty())
        what.query.emplace_back("start-after", after);
    return what;
}

struct page_read {
    judgement said;
    listing page;
};

awaitable<page_read> read_page(session& at, const call& what)
{
    const auto answer = co_await at.ask(what, nullptr);
    if (answer.said.what != verdict::done)
        co_return page_read{answer.said, {}};
    auto page = parse_listing(answer.document);
    if (!page)
        co_return page_read{{verdict::try_again, "the store's listing cannot be read"}, {}};
    co_return page_read{{}, std::move(*page)};
}

}  // namespace

awaitable<result<std::vector<std::string>>> remove_objects(session& at, std::vector<std::string> objects)
{
    std::vector<std::string> kept;
    if (objects.empty())
        co_return kept;
    const auto document = make_removal(objects);
    const call what{.method = verb::post,
                    .query = {{"delete", ""}},
                    .payload = to_hex(sha256_of(document)),
                    .content_md5 = md5_of(document)};
    const auto attempt = [&]() -> awaitable<judgement> {
        text_body body(document);
        const auto answer = co_await at.ask(what, &body, {.work = removal_limit * objects.size()});
        if (answer.said.what != verdict::done)
            co_return answer.said;
        const auto failures = parse_removals(answer.document);
        if (!failures)
            co_return judgement{verdict::try_again, "the store's answer to a removal cannot be read"};
        kept.clear();
        for (const auto& each : *failures)
            if (each.code != "NoSuchKey")
                kept.push_back(each.key);
        co_return answer.said;
    };
    if (const auto ec = co_await at.repeat(access::read, attempt))
        co_return ec;
    co_return kept;
}

awaitable<result<listing>> list_objects(session& at, std::string after, std::size_t most)
{
    const auto what = list_call(at.place(), after, std::min(most, largest_page));
    listing page;
    const auto attempt = [&]() -> awaitable<judgement> {
        auto read = co_await read_page(at, what);
        page = std::move(read.page);
        co_return read.said;
    };
    if (const auto ec = co_await at.repeat(access::read, attempt))
        co_return ec;
    co_return page;
}

awaitable<error_code> probe(session& at)
{
    const auto what = list_call(at.place(), "", 1);
    const auto read = co_await read_page(at, what);
    at.state().note(access::read, read.said);
    if (read.said.what != verdict::done)
        co_return RESTANTE_ERROR(errc::content_store_unavailable);
    co_return error_code{};
}

}  // namespace restante::s3
