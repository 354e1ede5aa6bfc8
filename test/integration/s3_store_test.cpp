#include "storage/content/s3/s3_store.hpp"

#include "storage/content/content_key.hpp"
#include "storage/content/s3/multipart_put.hpp"
#include "storage/content/s3/objects.hpp"
#include "storage/content/s3/put.hpp"
#include "test/support/log_capture.hpp"
#include "test/support/run.hpp"
#include "test/support/s3.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace restante::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

timestamp at_hour(int hour)
{
    return std::chrono::sys_days(std::chrono::year(2026) / 11 / 18) + std::chrono::hours(hour);
}

std::string new_key(int hour)
{
    return make_content_key(make_uuid_v7(), at_hour(hour));
}

struct stored {
    content_to_store given;
    std::uint64_t size;

    stored_content row() const { return {.key = given.key, .size = size, .sha256 = given.sha256}; }
};

stored make_stored(std::uint64_t size, int hour = 7)
{
    auto bytes = std::make_shared<counted_content>(size);
    const auto digest = bytes->digest();
    return {{new_key(hour), std::move(bytes), digest}, size};
}

awaitable<error_code> store_one(s3_store& to, const stored& what)
{
    co_return co_await to.write(std::span<const content_to_store>(&what.given, 1));
}

// Whether the part can be read, and is that part.
awaitable<error_code> read_part(s3_store& from, const stored& what, content_part part)
{
    auto reader = co_await from.open(what.row(), part);
    if (!reader)
        co_return reader.error();
    auto at = part.first;
    const auto end = part.first + part.length;
    while (at < end) {
        const auto piece = co_await (*reader)->next();
        if (!piece)
            co_return piece.error();
        EXPECT_FALSE(piece->empty());
        EXPECT_LE(at + piece->size(), end);
        for (const char c : *piece)
            if (c != counted_content::byte_at(at++)) {
                ADD_FAILURE() << "byte " << at - 1 << " differs";
                co_return errc::content_lost;
            }
    }
    co_return error_code{};
}

// A store on its own shard, with a bucket prefix of its own.
template <class Body>
void with_store(Body body)
{
    const auto bucket = open_s3_bucket(s3_test_options());
    run([&]() -> awaitable<void> {
        s3_store store(co_await asio::this_coro::executor, *bucket);
        co_await body(store);
    });
}

TEST(s3_store, reads_what_was_written_whole_and_in_parts)
{
    with_store([](s3_store& store) -> awaitable<void> {
        for (const std::uint64_t size : {1ull, 1000ull, 300'000ull, 5ull << 20}) {
            const auto file = make_stored(size);
            EXPECT_EQ(co_await store_one(store, file), error_code());
            EXPECT_EQ(co_await read_part(store, file, {0, size}), error_code());
            EXPECT_EQ(co_await read_part(store, file, {size - 1, 1}), error_code());
            EXPECT_EQ(co_await read_part(store, file, {size / 3, size / 2 + 1 - size / 3}), error_code());
        }
    });
}

TEST(s3_store, sends_large_files_in_parts)
{
    with_store([](s3_store& store) -> awaitable<void> {
        const auto size = s3::largest_single_put + s3::part_size / 2 + 1;
        const auto file = make_stored(size);
        EXPECT_EQ(co_await store_one(store, file), error_code());
        EXPECT_EQ(co_await read_part(store, file, {0, size}), error_code());
        EXPECT_EQ(co_await read_part(store, file, {s3::part_size - 5, 10}), error_code());
        std::vector<std::string> keys{file.given.key};
        EXPECT_TRUE((co_await store.remove(keys)).value().empty());
    });
}

TEST(s3_store, refuses_bytes_that_do_not_match_their_digest)
{
    with_store([](s3_store& store) -> awaitable<void> {
        auto file = make_stored(1000);
        file.given.sha256[0] ^= 1;
        EXPECT_EQ(co_await store_one(store, file), errc::content_store_unavailable);
        EXPECT_EQ(co_await read_part(store, file, {0, 1000}), errc::content_lost);
    });
}

TEST(s3_store, says_lost_only_when_the_object_is_missing_or_of_another_size)
{
    with_store([](s3_store& store) -> awaitable<void> {
        const auto absent = make_stored(10);
        EXPECT_EQ(co_await read_part(store, absent, {0, 10}), errc::content_lost);
        auto other = make_stored(1000);
        EXPECT_EQ(co_await store_one(store, other), error_code());
        for (const std::uint64_t size : {999ull, 1001ull, 5000ull}) {
            other.size = size;
            EXPECT_EQ(co_await read_part(store, other, {0, size}), errc::content_lost) << size;
            EXPECT_EQ(co_await read_part(store, other, {0, 10}), errc::content_lost) << size;
        }
        other.size = 5000;  // beyond the end: 416
        EXPECT_EQ(co_await read_part(store, other, {2000, 10}), errc::content_lost);
    });
}

TEST(s3_store, removes_in_batches_and_what_is_gone_counts_as_removed)
{
    with_store([](s3_store& store) -> awaitable<void> {
        std::vector<std::string> keys;
        std::vector<stored> files;
        for (int i = 0; i < 5; ++i) {
            files.push_back(make_stored(100));
            keys.push_back(files.back().given.key);
            EXPECT_EQ(co_await store_one(store, files.back()), error_code());
        }
        while (keys.size() < s3::largest_removal + 10)
            keys.push_back(new_key(3));
        EXPECT_TRUE((co_await store.remove(keys)).value().empty());
        EXPECT_TRUE((co_await store.remove(keys)).value().empty());
        for (const auto& file : files)
            EXPECT_EQ(co_await read_part(store, file, {0, 100}), errc::content_lost);
    });
}

std::vector<std::string> keys_of(const result<std::vector<listed_content>>& listed)
{
    std::vector<std::string> keys;
    for (const auto& each : listed.value())
        keys.push_back(each.key);
    return keys;
}

TEST(s3_store, lists_by_key_and_only_what_is_its_own)
{
    with_store([](s3_store& store) -> awaitable<void> {
        const auto first = make_stored(10, 3);
        const auto second = make_stored(20, 5);
        const auto third = make_stored(30, 7);
        auto foreign = make_stored(5);
        foreign.given.key = "2026-11-18T04/notes.txt";
        for (const stored* each : std::initializer_list<const stored*>{&third, &first, &second, &foreign})
            EXPECT_EQ(co_await store_one(store, *each), error_code());
        auto listed = co_await store.list("", "", 100);
        EXPECT_THAT(keys_of(listed), ElementsAre(first.given.key, second.given.key, third.given.key));
        EXPECT_EQ(listed->front().size, 10u);
        listed = co_await store.list("", "2026-11-18T07", 100);
        EXPECT_THAT(keys_of(listed), ElementsAre(first.given.key, second.given.key));
        listed = co_await store.list(first.given.key, "", 1);
        EXPECT_THAT(keys_of(listed), ElementsAre(second.given.key));
        listed = co_await store.list(third.given.key, "", 100);
        EXPECT_THAT(keys_of(listed), ElementsAre());
    });
}

TEST(s3_store, an_empty_prefix_is_the_whole_bucket)
{
    auto options = s3_test_options();
    options.prefix = "";
    const auto bucket = open_s3_bucket(options);
    run([&]() -> awaitable<void> {
        s3_store store(co_await asio::this_coro::executor, *bucket);
        const auto file = make_stored(1000);
        EXPECT_EQ(bucket->place.object(file.given.key), file.given.key);
        EXPECT_EQ(co_await store_one(store, file), error_code());
        EXPECT_EQ(co_await read_part(store, file, {10, 100}), error_code());
        // Other tests have objects in the same bucket, which are passed over.
        auto listed = co_await store.list("", "", 100);
        EXPECT_THAT(keys_of(listed), ::testing::Contains(file.given.key));
        const std::vector<std::string> keys{file.given.key};
        EXPECT_TRUE((co_await store.remove(keys)).value().empty());
        listed = co_await store.list("", "", 100);
        EXPECT_THAT(keys_of(listed), ::testing::Not(::testing::Contains(file.given.key)));
    });
}

TEST(s3_store, aborts_uploads_in_parts_that_nobody_completes)
{
    const auto bucket = open_s3_bucket(s3_test_options());
    run([&]() -> awaitable<void> {
        system_resolver names;
        auto tls = make_client_tls_context("");
        dial_options options{.names = names, .judge = [](const auto&) { return true; }, .tls = *tls};
        http_client client(co_await asio::this_coro::executor, options);
        s3::session session(client, bucket->place, bucket->keys, bucket->state);
        const s3::call begin{.method = boost::beast::http::verb::post,
                             .object = bucket->place.object(new_key(3)),
                             .query = {{"uploads", ""}}};
        const auto begun = co_await session.ask(begin, nullptr);
        EXPECT_EQ(begun.said.what, s3::verdict::done) << begun.said.words;
        auto begin_another = begin;
        begin_another.object = bucket->place.object("somebody/elses.iso");
        const auto foreign = co_await session.ask(begin_another, nullptr);
        EXPECT_EQ(foreign.said.what, s3::verdict::done) << foreign.said.words;
        const auto now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
        const auto kept = co_await s3::abort_stale_uploads(session, now - std::chrono::hours(24));
        EXPECT_EQ(kept.value(), 0u);
        const auto aborted = co_await s3::abort_stale_uploads(session, now + std::chrono::hours(1));
        EXPECT_EQ(aborted.value(), 1u);
        const auto again = co_await s3::abort_stale_uploads(session, now + std::chrono::hours(1));
        EXPECT_EQ(again.value(), 0u);
        client.stop();
    });
}

TEST(s3_store, says_what_is_wrong_with_keys_and_bucket)
{
    log_capture log;
    auto options = s3_test_options();
    const auto wrong_key = open_s3_bucket(options, "another-secret");
    options.bucket = "no-such-bucket";
    const auto no_bucket = open_s3_bucket(options);
    run([&]() -> awaitable<void> {
        s3_store first(co_await asio::this_coro::executor, *wrong_key);
        s3_store second(co_await asio::this_coro::executor, *no_bucket);
        const auto file = make_stored(10);
        for (int i = 0; i < 5; ++i) {
            EXPECT_EQ(co_await store_one(first, file), errc::content_store_unavailable);
            EXPECT_EQ(co_await read_part(second, file, {0, 10}), errc::content_store_unavailable);
        }
    });
    ASSERT_TRUE(wrong_key->state.trouble());
    EXPECT_THAT(*wrong_key->state.trouble(), HasSubstr("credentials"));
    ASSERT_TRUE(no_bucket->state.trouble());
    EXPECT_THAT(*no_bucket->state.trouble(), HasSubstr("bucket does not exist"));
    for (const auto& line : log.lines())
        EXPECT_THAT(line, ::testing::Not(HasSubstr("another-secret")));
}

}  // namespace
}  // namespace restante::test
