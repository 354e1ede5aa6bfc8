#include "core/text.hpp"

#include "core/utf8.hpp"

#include <gtest/gtest.h>

#include <string>

namespace restante {
namespace {

using namespace std::string_view_literals;

TEST(text, letter_case_is_ignored_only_in_ascii)
{
    EXPECT_TRUE(iequals("Content-TYPE", "content-type"));
    EXPECT_FALSE(iequals("content-typ", "content-type"));
    EXPECT_FALSE(iequals("\xC4", "\xE4"));
    EXPECT_FALSE(iequals("[", "{"));
    EXPECT_TRUE(istarts_with("MultiPart/mixed", "multipart/"));
    EXPECT_FALSE(istarts_with("multi", "multipart/"));
}

TEST(text, tokens)
{
    EXPECT_TRUE(is_token("X-Name_1!#$%&'*+.^`|~"));
    for (const auto text :
         {""sv, "a b"sv, "a:"sv, "a\0"sv, "\0"sv, "\xC3\xA9"sv, "a\x7F"sv, "(a)"sv, "a/b"sv})
        EXPECT_FALSE(is_token(text)) << text;
}

TEST(text, blanks_are_spaces_and_tabs)
{
    EXPECT_EQ(trim_blanks(" \t a b\t "), "a b");
    EXPECT_EQ(trim_blanks(" \t "), "");
    EXPECT_EQ(trim_blanks("\ra\n"), "\ra\n");
}

// Exhaustive: encodes every code point, and compares with the decoder.
TEST(text, every_code_point_is_well_formed_and_has_its_length)
{
    for (unsigned c = 0; c <= 0x10FFFF; ++c) {
        std::string text;
        const auto tail = [&text, c](unsigned shift) {
            text += static_cast<char>(0x80 | (c >> shift & 0x3F));
        };
        if (c < 0x80) {
            text += static_cast<char>(c);
        } else if (c < 0x800) {
            text += static_cast<char>(0xC0 | c >> 6);
            tail(0);
        } else if (c < 0x10000) {
            text += static_cast<char>(0xE0 | c >> 12);
            tail(6);
            tail(0);
        } else {
            text += static_cast<char>(0xF0 | c >> 18);
            tail(12);
            tail(6);
            tail(0);
        }
        const bool surrogate = c >= 0xD800 && c <= 0xDFFF;
        ASSERT_EQ(utf8_length(text + "x"), surrogate ? 0 : text.size()) << c;
        if (text.size() > 1) {
            ASSERT_EQ(utf8_length(std::string_view(text).substr(0, text.size() - 1)), 0u) << c;
        }
    }
}

TEST(text, what_is_not_utf8)
{
    for (const auto text :
         {""sv, "\x80"sv, "\xBF"sv, "\xC0\x80"sv, "\xC1\xBF"sv, "\xE0\x9F\xBF"sv, "\xF0\x8F\xBF\xBF"sv,
          "\xED\xA0\x80"sv, "\xF4\x90\x80\x80"sv, "\xF5\x80\x80\x80"sv, "\xFF"sv, "\xC3("sv, "\xE2\x82("sv})
        EXPECT_EQ(utf8_length(text), 0u);
}

}  // namespace
}  // namespace restante
