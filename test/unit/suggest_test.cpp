#include "cli/suggest.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace restante {
namespace {

TEST(suggest, distance_counts_single_letter_changes)
{
    EXPECT_EQ(edit_distance("", ""), 0u);
    EXPECT_EQ(edit_distance("abc", ""), 3u);
    EXPECT_EQ(edit_distance("", "abc"), 3u);
    EXPECT_EQ(edit_distance("listen", "listen"), 0u);
    EXPECT_EQ(edit_distance("lisen", "listen"), 1u);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(suggest, the_nearest_word_if_one_is_near)
{
    constexpr std::array<std::string_view, 4> words{"listen", "listen-tls", "threads", "admin-token-file"};
    EXPECT_EQ(nearest("lisen", words), "listen");
    EXPECT_EQ(nearest("thread", words), "threads");
    EXPECT_EQ(nearest("listen-tsl", words), "listen-tls");
    EXPECT_EQ(nearest("admin-token", words), "admin-token-file");
    EXPECT_EQ(nearest("something-else", words), "");
    EXPECT_EQ(nearest("", words), "");
    EXPECT_EQ(nearest("x", words), "");
    EXPECT_EQ(nearest(std::string(100'000, 'l'), words), "");
}

}  // namespace
}  // namespace restante
