#include "server/commands/progress_line.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

constexpr std::int64_t GiB = 1ll << 30;

TEST(progress_line, follows_the_bytes)
{
    EXPECT_EQ(progress_text("moving", {3, GiB}, {40, 2 * GiB}),
              "moving [###############...............] 3/40 files, 1.0 GiB of 2.0 GiB");
}

TEST(progress_line, of_nothing_is_full)
{
    EXPECT_EQ(progress_text("checking", {}, {}),
              "checking [##############################] 0/0 files, 0 bytes of 0 bytes");
}

TEST(progress_line, never_says_more_than_all)
{
    // Files that came meanwhile.
    EXPECT_EQ(progress_text("checking", {2, 30}, {1, 20}),
              "checking [##############################] 2/2 files, 30 bytes of 30 bytes");
}

}  // namespace
}  // namespace restante
