#include "core/utf8.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

TEST(utf8, length_of_the_first_code_point)
{
    EXPECT_EQ(utf8_length("a"), 1u);
    EXPECT_EQ(utf8_length(std::string_view("\0", 1)), 1u);
    EXPECT_EQ(utf8_length("é"), 2u);
    EXPECT_EQ(utf8_length("€x"), 3u);
    EXPECT_EQ(utf8_length("\xF0\x9F\x98\x80"), 4u);
    EXPECT_EQ(utf8_length("\xF4\x8F\xBF\xBF"), 4u);  // U+10FFFF
}

TEST(utf8, ill_formed_sequences_have_no_length)
{
    for (const char* text :
         {"", "\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC3", "\xC3(", "\xE0\x80\x80", "\xE2\x82",
          "\xE2(\xA1", "\xE2\x82(", "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x80\x80\x80", "\xF0\x9F\x98",
          "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"})
        EXPECT_EQ(utf8_length(text), 0u) << testing::PrintToString(std::string(text));
}

TEST(utf8, whole_texts)
{
    EXPECT_TRUE(is_utf8(""));
    EXPECT_TRUE(is_utf8("Grüße, 世界 \xF0\x9F\x98\x80"));
    EXPECT_FALSE(is_utf8("abc\xFF"));
    EXPECT_FALSE(is_utf8("abc\xC3"));
}

TEST(utf8, prefixes_never_split_a_code_point)
{
    const std::string_view text = "aé€\xF0\x9F\x98\x80z";  // 1 + 2 + 3 + 4 + 1 bytes
    const std::size_t expected[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
    for (std::size_t limit = 0; limit < std::size(expected); ++limit)
        EXPECT_EQ(utf8_prefix(text, limit).size(), expected[limit]) << limit;
}

TEST(utf8, prefixes_of_ill_formed_text_are_cut_at_the_limit)
{
    EXPECT_EQ(utf8_prefix("\x80\x80\x80\x80\x80", 3).size(), 3u);
    EXPECT_EQ(utf8_prefix("ab\xC3(", 3).size(), 3u);
}

}  // namespace
}  // namespace restante
