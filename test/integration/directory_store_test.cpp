// What a directory does about files that are not what was stored.
#include "storage/content/directory_store.hpp"

#include "server/spool/spool.hpp"
#include "storage/content/content_key.hpp"
#include "test/support/run.hpp"
#include "test/support/temporary_directory.hpp"
#include "test/support/uploads.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sys/statvfs.h>

namespace restante::test {
namespace {

constexpr std::size_t slice = 256 * 1024;

class directory_store_test : public ::testing::Test {
protected:
    std::shared_ptr<content_directory> open_directory() const
    {
        return *content_directory::open((place_.path() / "content").string());
    }

    // A file that one process stores and, as far as `same_process` says, another one reads.
    template <class Body>
    void with_stored(std::size_t size, bool same_process, Body body)
    {
        run([&]() -> awaitable<void> {
            const executor ex = co_await asio::this_coro::executor;
            auto directory = open_directory();
            directory_store writer(ex, directory);
            std::string text(size, 'x');
            text.back() = 'y';
            const std::vector<content_to_store> files{{make_content_key(make_uuid_v7(), timestamp{}),
                                                       std::make_shared<text_content>(text),
                                                       sha256_of(text)}};
            EXPECT_FALSE(co_await writer.write(files));
            directory_store reader(ex, same_process ? directory : open_directory());
            const stored_content row{.key = files[0].key, .size = size, .sha256 = files[0].sha256};
            co_await body(reader, row, text);
        });
    }

    void overwrite(const stored_content& row, std::size_t at, char with) const
    {
        std::fstream file(place_.path() / "content" / row.key,
                          std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(at));
        file.put(with);
    }

    static awaitable<result<std::string>> read(content_reader& from, std::size_t length)
    {
        std::string text;
        while (text.size() < length) {
            const auto piece = co_await from.next();
            if (!piece)
                co_return piece.error();
            text.append(piece->begin(), piece->end());
        }
        co_return text;
    }

    // How many bytes came before the error.
    static awaitable<std::size_t> read_until_lost(content_reader& from)
    {
        std::size_t got = 0;
        for (;;) {
            const auto piece = co_await from.next();
            if (!piece) {
                EXPECT_EQ(piece.error(), errc::content_lost);
                co_return got;
            }
            got += piece->size();
        }
    }

    temporary_directory place_;
};

TEST_F(directory_store_test, what_this_process_has_stored_is_passed_on_as_a_file)
{
    with_stored(3 * slice, true,
                [](directory_store& store, stored_content row, std::string) -> awaitable<void> {
                    const auto size = row.size;
                    const auto reader = co_await store.open(row, {0, size});
                    EXPECT_TRUE((*reader)->file().has_value());
                    const auto part = co_await store.open(row, {slice, 10});
                    EXPECT_EQ((*part)->file()->first, slice);
                });
}

TEST_F(directory_store_test, what_another_process_has_stored_is_compared_first)
{
    with_stored(3 * slice + 5, false,
                [](directory_store& store, stored_content row, std::string text) -> awaitable<void> {
                    const auto size = row.size;
                    {
                        const auto part = co_await store.open(row, {slice, 10});
                        EXPECT_FALSE((*part)->file().has_value());
                    }
                    {
                        const auto reader = co_await store.open(row, {0, size});
                        EXPECT_FALSE((*reader)->file().has_value());
                        const auto got = co_await read(**reader, size);
                        EXPECT_TRUE(got && *got == text);
                    }
                    const auto again = co_await store.open(row, {0, size});
                    EXPECT_TRUE((*again)->file().has_value());
                });
}

TEST_F(directory_store_test, a_part_can_be_sent_after_the_whole_was_compared)
{
    with_stored(3 * slice, false,
                [](directory_store& store, stored_content row, std::string text) -> awaitable<void> {
                    const auto part = co_await store.open(row, {5, 10});
                    EXPECT_FALSE(co_await (*part)->verify());
                    EXPECT_TRUE((*part)->file().has_value());
                    const auto got = co_await read(**part, 10);
                    EXPECT_TRUE(got && *got == text.substr(5, 10));
                    const auto other = co_await store.open(row, {0, 1});
                    EXPECT_TRUE((*other)->file().has_value());
                });
}

TEST_F(directory_store_test, the_last_slice_of_a_damaged_file_never_comes)
{
    for (const bool same_process : {true, false})
        for (const std::size_t at : {std::size_t{0}, slice + 1, 3 * slice - 1})
            with_stored(3 * slice, same_process,
                        [&](directory_store& store, stored_content row, std::string) -> awaitable<void> {
                            overwrite(row, at, '!');
                            const auto size = row.size;
                            const auto reader = co_await store.open(row, {0, size});
                            EXPECT_FALSE((*reader)->file().has_value());
                            EXPECT_EQ(co_await read_until_lost(**reader), 2 * slice);
                            const auto part = co_await store.open(row, {slice, 1});
                            EXPECT_EQ(co_await (*part)->verify(), errc::content_lost);
                        });
}

// Shows what somebody would find in the directory who copied it at this moment.
class watched_content final : public file_content {
public:
    watched_content(std::string text, std::function<void()> look)
        : text_(std::move(text), true), look_(std::move(look))
    {
    }

    std::uint64_t size() const override { return text_.size(); }
    std::optional<std::span<const char>> in_memory() const override { return std::nullopt; }
    awaitable<result<std::span<const char>>> read(std::uint64_t offset, std::span<char> into) override
    {
        look_();
        return text_.read(offset, into);
    }

private:
    text_content text_;
    std::function<void()> look_;
};

TEST_F(directory_store_test, a_part_of_the_disk_is_left_to_others)
{
    const auto directory = open_directory();
    struct statvfs disk{};
    ASSERT_EQ(::statvfs(directory->path().c_str(), &disk), 0);
    const auto reserve = std::min<std::uint64_t>(disk.f_blocks * disk.f_frsize / 20, 1 << 30);
    const auto written_meanwhile = reserve / 2;
    EXPECT_LE(directory->free_bytes() + reserve, disk.f_bfree * disk.f_frsize + written_meanwhile);
    const auto free = directory->free_bytes();
    EXPECT_FALSE(directory->take_room(free + 1));
    EXPECT_TRUE(directory->take_room(free - 10));
    EXPECT_FALSE(directory->take_room(11));
    EXPECT_TRUE(directory->take_room(10));
    run([&]() -> awaitable<void> {
        directory_store store(co_await asio::this_coro::executor, directory);
        EXPECT_FALSE(store.has_room(1));
        const std::vector<content_to_store> files{{make_content_key(make_uuid_v7(), timestamp{}),
                                                   std::make_shared<text_content>("x"), sha256_of("x")}};
        EXPECT_EQ(co_await store.write(files), errc::content_store_unavailable);
    });
    EXPECT_FALSE(directory->trouble());
    directory->probe();
    EXPECT_TRUE(directory->take_room(1));
}

TEST_F(directory_store_test, what_is_received_into_it_leaves_the_reserve_and_tells_of_failures)
{
    const auto directory = open_directory();
    run([&]() -> awaitable<void> {
        memory_budget memory(64 << 20);
        spool_budget budget(memory, 1 << 30, place_.path().string());
        const std::string much(spool::memory_limit + 1, 'x');
        const auto receive = [&]() -> awaitable<error_code> {
            const store_directory into{directory, 0};
            spool received(std::make_shared<disk_claim>(budget, make_uuid_v4(), into));
            co_return co_await received.write(much);
        };
        EXPECT_EQ(co_await receive(), error_code());
        EXPECT_TRUE(directory->take_room(directory->free_bytes() - (spool::memory_limit - 1)));
        EXPECT_EQ(co_await receive(), errc::content_store_unavailable);
        EXPECT_FALSE(directory->trouble());
        directory->probe();
        std::filesystem::remove_all(directory->path());
        EXPECT_EQ(co_await receive(), errc::content_store_unavailable);
        EXPECT_TRUE(directory->trouble());
    });
}

TEST_F(directory_store_test, half_a_copy_never_has_the_name_of_a_file)
{
    run([&]() -> awaitable<void> {
        const executor ex = co_await asio::this_coro::executor;
        auto directory = open_directory();
        directory_store store(ex, directory);
        const auto key = make_content_key(make_uuid_v7(), timestamp{});
        const std::string text(3 * slice, 'x');
        std::vector<listed_content> seen;
        int looks = 0;
        auto look = [&] {
            ++looks;
            directory->list({}, "9", 10, seen);
        };
        const std::vector<content_to_store> files{
            {key, std::make_shared<watched_content>(text, look), sha256_of(text)}};
        EXPECT_FALSE(co_await store.write(files));
        EXPECT_EQ(looks, 3);
        EXPECT_TRUE(seen.empty());
        EXPECT_EQ(directory->list({}, "9", 10, seen), 0);
        EXPECT_EQ(seen.size(), 1u);
        EXPECT_EQ(seen.at(0).key, key);
        EXPECT_EQ(seen.at(0).size, text.size());
    });
}

TEST_F(directory_store_test, copies_that_were_never_finished_are_removed_an_hour_later)
{
    auto directory = open_directory();
    const auto hour = place_.path() / "content" / "1970-01-01T00";
    std::filesystem::create_directory(hour);
    const auto young = hour / (to_string(make_uuid_v7()) + ".part");
    const auto old = hour / (to_string(make_uuid_v7()) + ".part");
    std::ofstream(young) << "half";
    std::ofstream(old) << "half";
    std::filesystem::last_write_time(old,
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
    std::vector<listed_content> seen;
    EXPECT_EQ(directory->list({}, "9", 10, seen), 0);
    EXPECT_TRUE(seen.empty());
    EXPECT_TRUE(std::filesystem::exists(young));
    EXPECT_FALSE(std::filesystem::exists(old));
}

TEST_F(directory_store_test, those_who_ask_for_parts_of_one_file_share_its_reading)
{
    with_stored(
        40 * slice, false, [](directory_store& store, stored_content row, std::string) -> awaitable<void> {
            task_group tasks(co_await asio::this_coro::executor);
            int right = 0;
            const auto ask = [&](std::uint64_t first) -> awaitable<void> {
                const auto part = co_await store.open(row, {first, 10});
                right += !co_await (*part)->verify() && (*part)->file() ? 1 : 0;
            };
            for (std::uint64_t i = 0; i < 20; ++i)
                tasks.spawn("ask", ask(i * slice));
            EXPECT_TRUE(co_await tasks.finished(std::chrono::steady_clock::now() + std::chrono::seconds(30)));
            EXPECT_EQ(right, 20);
        });
}

}  // namespace
}  // namespace restante::test
