#include "server/spool/block_cache.hpp"

#include "core/file_io.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace restante {
namespace {

constexpr std::size_t kib = 1024;

TEST(block_cache, a_freed_block_is_taken_again_for_the_same_size_only)
{
    block_cache cache;
    char* const first = cache.take(256 * kib);
    cache.give_back(first, 256 * kib);
    EXPECT_EQ(cache.held(), 256 * kib);

    char* const other = cache.take(128 * kib);
    EXPECT_NE(other, first);
    EXPECT_EQ(cache.held(), 256 * kib);
    char* const again = cache.take(256 * kib);
    EXPECT_EQ(again, first);
    EXPECT_EQ(cache.held(), 0u);
    again[0] = again[256 * kib - 1] = 'x';

    cache.give_back(other, 128 * kib);
    cache.give_back(again, 256 * kib);
}

TEST(block_cache, begins_at_a_block_of_the_disk)
{
    block_cache cache;
    char* const block = cache.take(128 * kib);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % direct_block, 0u);
    cache.give_back(block, 128 * kib);
}

TEST(block_cache, keeps_no_more_than_its_limit)
{
    block_cache cache;
    std::vector<char*> blocks;
    for (int i = 0; i < 40; ++i)
        blocks.push_back(cache.take(1024 * kib));
    for (char* each : blocks)
        cache.give_back(each, 1024 * kib);
    EXPECT_EQ(cache.held(), block_cache::limit);

    cache.clear();
    EXPECT_EQ(cache.held(), 0u);
}

}  // namespace
}  // namespace restante
