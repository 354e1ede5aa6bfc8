#include "server/spool/spool.hpp"

#include "core/file_io.hpp"
#include "test/support/run.hpp"
#include "test/support/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <string>

namespace restante::test {
namespace {

constexpr std::size_t kib = 1024, mib = 1024 * kib;

std::string text_of_size(std::size_t size)
{
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i)
        text[i] = static_cast<char>(i * 31 + i / 4096);
    return text;
}

class spooled_file : public testing::Test {
protected:
    std::shared_ptr<disk_claim> claim(std::optional<store_directory> store = std::nullopt)
    {
        return std::make_shared<disk_claim>(budget_, uuid{}, std::move(store));
    }
    store_directory store() const { return {*content_directory::open(folder_.path() / "content"), 0}; }
    std::string place() const { return folder_.path().string(); }

private:
    memory_budget memory_{64 * mib};
    temporary_directory folder_;
    spool_budget budget_{memory_, 64 * mib, folder_.path().string()};
};

awaitable<std::string> read_whole(spool& from)
{
    std::string text;
    std::vector<char> block(100'000);
    while (text.size() < from.size()) {
        const auto piece = co_await from.read(text.size(), block);
        EXPECT_TRUE(piece && !piece->empty());
        if (!piece || piece->empty())
            break;
        text.append(piece->begin(), piece->end());
    }
    co_return text;
}

// Pieces as they come from a socket fit to no block of a disk.
awaitable<void> write_in_pieces(spool& into, std::string_view text, std::size_t piece)
{
    for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
        const auto ec = co_await into.write(text.substr(0, piece));
        EXPECT_FALSE(ec) << ec.message();
    }
    const auto ec = co_await into.finish();
    EXPECT_FALSE(ec) << ec.message();
}

TEST_F(spooled_file, of_any_size_and_in_any_pieces_is_what_was_written)
{
    constexpr std::size_t sizes[] = {1, 16 * kib, mib, mib + 1, 3 * mib, 3 * mib + 777};
    constexpr std::size_t pieces[] = {1'000, 64 * kib, 100'003, 2'500'000};
    for (const auto size : sizes)
        for (const auto piece : pieces)
            for (const bool in_store : {false, true})
                run([&]() -> awaitable<void> {
                    const auto text = text_of_size(size);
                    spool file(in_store ? claim(store()) : claim());
                    co_await write_in_pieces(file, text, piece);
                    const auto back = co_await read_whole(file);
                    EXPECT_TRUE(back == text) << size << ' ' << piece << ' ' << in_store;
                    EXPECT_EQ(file.digest(), sha256_of(text));
                    EXPECT_EQ(file.in_memory().has_value(), size <= spool::memory_limit);
                    EXPECT_EQ(file.nameless_file() >= 0, in_store && size > spool::memory_limit);
                });
}

// The store keeps the file, so its bytes are not read again soon.
TEST_F(spooled_file, of_the_store_does_not_fill_the_page_cache)
{
    run([&]() -> awaitable<void> {
        const auto text = text_of_size(5 * mib);
        spool file(claim(store()));
        co_await write_in_pieces(file, text, 64 * kib);
        const int flags = ::fcntl(file.nameless_file(), F_GETFL);
        const bool can_be_direct = ::fcntl(file.nameless_file(), F_SETFL, flags | O_DIRECT) == 0;
        ::fcntl(file.nameless_file(), F_SETFL, flags);
        for (std::size_t at = 0; at < text.size(); at += 256 * kib)
            EXPECT_EQ(is_cached(file.nameless_file(), at, 4096), !can_be_direct) << at;
    });
}

TEST_F(spooled_file, without_memory_goes_to_the_disk_at_once)
{
    memory_budget none(1);
    spool_budget budget(none, 64 * mib, place());
    run([&]() -> awaitable<void> {
        const auto text = text_of_size(300'001);
        spool file(std::make_shared<disk_claim>(budget, uuid{}, store()));
        co_await write_in_pieces(file, text, 10'007);
        EXPECT_FALSE(file.in_memory());
        const auto back = co_await read_whole(file);
        EXPECT_TRUE(back == text);
    });
}

}  // namespace
}  // namespace restante::test
