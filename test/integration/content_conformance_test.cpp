// One suite for every content store outside of the rows.
#include "core/task_group.hpp"
#include "storage/content/directory_store.hpp"
#include "test/support/content_conformance.hpp"
#include "test/support/temporary_directory.hpp"

namespace restante::test {
namespace {

using namespace std::chrono_literals;

store_kind directory_kind()
{
    const auto place = std::make_shared<temporary_directory>();
    return {"directory", [place](executor ex) {
                static int number = 0;
                auto opened = content_directory::open((place->path() / std::to_string(++number)).string());
                return std::make_unique<directory_store>(ex, *opened);
            }};
}

INSTANTIATE_TEST_SUITE_P(stores, content_conformance, ::testing::Values(directory_kind()), conformance_name);

TEST_P(content_conformance, what_was_written_is_read_whole_and_in_parts)
{
    with_store([&](content_store& store) -> awaitable<void> {
        for (const std::size_t size : {1u, 255u, 262'145u, 1u << 20, 5'000'001u}) {
            for (const bool on_disk : {false, true}) {
                const auto text = noise(size);
                const auto file = make(text, on_disk);
                EXPECT_FALSE(co_await put(store, file));
                const auto whole = co_await get(store, file);
                EXPECT_TRUE(whole && *whole == text) << size;
                for (const auto& [first, length] :
                     {std::pair<std::size_t, std::size_t>{0, 1}, {size - 1, 1}, {size / 3, size - size / 3}}) {
                    const content_part part{first, length};
                    auto what = row_of(file);
                    const auto piece = co_await get(store, std::move(what), part);
                    EXPECT_TRUE(piece && *piece == text.substr(first, length)) << size << ' ' << first;
                }
            }
        }
    });
}

TEST_P(content_conformance, what_is_not_there_or_is_not_as_long_is_lost)
{
    with_store([&](content_store& store) -> awaitable<void> {
        const auto never = make("text");
        EXPECT_EQ((co_await get(store, never)).error(), errc::content_lost);
        const auto file = make(noise(100'000));
        EXPECT_FALSE(co_await put(store, file));
        auto longer = row_of(file);
        longer.size += 1;
        const content_part part{0, 10};
        EXPECT_EQ((co_await get(store, std::move(longer), part)).error(), errc::content_lost);
    });
}

TEST_P(content_conformance, removing_is_final_and_may_be_repeated)
{
    with_store([&](content_store& store) -> awaitable<void> {
        const auto file = make(noise(300'000)), other = make(noise(300'000));
        EXPECT_FALSE(co_await put(store, file));
        EXPECT_FALSE(co_await put(store, other));
        EXPECT_FALSE(co_await remove(store, file.key));
        EXPECT_FALSE(co_await remove(store, file.key));
        EXPECT_EQ((co_await get(store, file)).error(), errc::content_lost);
        EXPECT_TRUE((co_await get(store, other)).has_value());
    });
}

// A store that cannot promise it keeps the bytes of removed rows for a while instead.
TEST_P(content_conformance, what_is_being_read_is_read_to_its_end)
{
    with_store([&](content_store& store) -> awaitable<void> {
        const auto text = noise(3'000'000);
        const auto file = make(text);
        EXPECT_FALSE(co_await put(store, file));
        const content_part whole{0, text.size()};
        auto reader = co_await store.open(row_of(file), whole);
        EXPECT_TRUE(reader.has_value());
        if (store.removal_delay() == 0s) {
            EXPECT_FALSE(co_await remove(store, file.key));
        }
        const auto read = co_await read_all(**reader, text.size());
        EXPECT_TRUE(read && *read == text);
    });
}

TEST_P(content_conformance, a_list_is_in_order_in_pages_and_ends_before_an_hour)
{
    with_store([&](content_store& store) -> awaitable<void> {
        std::vector<std::string> old;
        std::vector<content_to_store> all;
        for (std::size_t i = 0; i < GetParam().many; ++i) {
            all.push_back(make("x", false, i % 3 == 0 ? "2026-11-16T17:59:59Z" : "2026-11-16T09:00:00Z"));
            old.push_back(all.back().key);
        }
        all.push_back(make("young", false, "2026-11-16T18:00:00Z"));
        EXPECT_FALSE(co_await store.write(all));
        std::sort(old.begin(), old.end());

        std::vector<std::string> listed;
        for (std::string after;;) {
            const auto page = co_await store.list(after, "2026-11-16T18", 1000);
            EXPECT_TRUE(page.has_value());
            if (!page || page->empty())
                break;
            EXPECT_LE(page->size(), 1000u);
            for (const auto& each : *page) {
                EXPECT_EQ(each.size, 1u);
                listed.push_back(each.key);
            }
            after = page->back().key;
        }
        EXPECT_EQ(listed, old);
        const auto rest = co_await store.list(old.back(), "9", 100);
        EXPECT_EQ(rest->size(), 1u);
        EXPECT_TRUE((co_await store.list("", "2026-11-16T09", 100))->empty());
        EXPECT_TRUE((co_await store.remove(old)).value().empty());
        EXPECT_TRUE((co_await store.list("", "2026-11-16T18", 100))->empty());
    });
}

TEST_P(content_conformance, writers_readers_and_removers_do_not_disturb_each_other)
{
    with_store([&](content_store& store) -> awaitable<void> {
        const executor ex = co_await asio::this_coro::executor;
        task_group tasks(ex);
        int wrong = 0, read = 0;
        const auto work = [&](unsigned seed) -> awaitable<void> {
            for (int i = 0; i < 10; ++i) {
                const auto text = noise(1 + seed * 40'000, seed);
                const auto file = make(text, i % 2 == 0);
                wrong += static_cast<bool>(co_await put(store, file));
                const auto got = co_await get(store, file);
                wrong += !got || *got != text;
                ++read;
                wrong += static_cast<bool>(co_await remove(store, file.key));
                const auto gone = co_await get(store, file);
                wrong += gone || gone.error() != errc::content_lost;
            }
        };
        for (unsigned seed = 1; seed <= 8; ++seed)
            tasks.spawn("work", work(seed));
        EXPECT_TRUE(co_await tasks.finished(std::chrono::steady_clock::now() + 60s));
        EXPECT_EQ(wrong, 0);
        EXPECT_EQ(read, 80);
    });
}

}  // namespace
}  // namespace restante::test
