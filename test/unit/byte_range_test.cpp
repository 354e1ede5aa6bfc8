#include "http/message/byte_range.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace restante {
namespace {

constexpr range_decision whole{range_answer::whole, {}};
constexpr range_decision unsatisfiable{range_answer::unsatisfiable, {}};

constexpr range_decision part(std::uint64_t first, std::uint64_t last)
{
    return {range_answer::part, {first, last}};
}

struct range_case {
    const char* range;
    range_decision expected;
};

TEST(byte_range, of_a_file_of_1000_bytes)
{
    const range_case cases[] = {
        {"bytes=0-499", part(0, 499)},
        {"bytes=500-999", part(500, 999)},
        {"bytes=999-999", part(999, 999)},
        {"bytes=500-", part(500, 999)},
        {"bytes=0-", part(0, 999)},
        {"bytes=-1", part(999, 999)},
        {"bytes=-1000", part(0, 999)},
        {"bytes=-5000", part(0, 999)},
        {"bytes=900-5000", part(900, 999)},
        {"BYTES=0-0", part(0, 0)},
        {"bytes= 0-1 ", part(0, 1)},
        {"bytes=00000000000000000000000-1", part(0, 1)},
        {"bytes=0-18446744073709551615", part(0, 999)},
        {"bytes=0-18446744073709551616", part(0, 999)},
        {"bytes=0-99999999999999999999999999", part(0, 999)},
        {"bytes=-99999999999999999999999999", part(0, 999)},

        {"bytes=1000-", unsatisfiable},
        {"bytes=1000-2000", unsatisfiable},
        {"bytes=-0", unsatisfiable},
        {"bytes=18446744073709551615-", unsatisfiable},
        {"bytes=18446744073709551616-", unsatisfiable},
        {"bytes=99999999999999999999999999-", unsatisfiable},

        {"", whole},
        {"bytes", whole},
        {"bytes=", whole},
        {"bytes=-", whole},
        {"bytes=--1", whole},
        {"bytes=5", whole},
        {"bytes=5-4", whole},
        {"bytes=a-b", whole},
        {"bytes=0x0-5", whole},
        {"bytes=+0-5", whole},
        {"bytes=0-5-7", whole},
        {"bytes=0 - 5", whole},
        {"bytes=0-1,5-6", whole},
        {"bytes=0-1,", whole},
        {"bytes=,0-1", whole},
        {"lines=0-5", whole},
        {"=0-5", whole},
        {"0-5", whole},
    };
    for (const auto& each : cases)
        EXPECT_EQ(decide_range(each.range, 1000), each.expected) << each.range;
}

TEST(byte_range, of_an_empty_file_and_of_the_greatest)
{
    constexpr auto greatest = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(decide_range("bytes=0-", 0), unsatisfiable);
    EXPECT_EQ(decide_range("bytes=-5", 0), unsatisfiable);
    EXPECT_EQ(decide_range("bytes=0-", greatest), part(0, greatest - 1));
    EXPECT_EQ(decide_range("bytes=18446744073709551614-", greatest), part(greatest - 1, greatest - 1));
    EXPECT_EQ(part(3, 5).range.size(), 3u);
}

TEST(byte_range, if_range_takes_the_same_strong_tag_only)
{
    EXPECT_TRUE(if_range_allows("\"abc\"", "\"abc\""));
    EXPECT_FALSE(if_range_allows("W/\"abc\"", "\"abc\""));
    EXPECT_FALSE(if_range_allows("\"abd\"", "\"abc\""));
    EXPECT_FALSE(if_range_allows("abc", "\"abc\""));
    EXPECT_FALSE(if_range_allows("", "\"abc\""));
    EXPECT_FALSE(if_range_allows("Wed, 21 Oct 2015 07:28:00 GMT", "\"abc\""));
}

TEST(byte_range, if_none_match_compares_a_list_weakly)
{
    const char* hits[] = {"\"abc\"",         "W/\"abc\"", "*", "\"x\", \"abc\"", "\"x\",W/\"abc\" , \"y\"",
                          "\"a,b\", \"abc\""};
    for (const char* value : hits)
        EXPECT_TRUE(if_none_match_hits(value, "\"abc\"")) << value;
    const char* misses[] = {"",          "abc",           "\"abd\"", "\"abc",
                            "w/\"abc\"", "\"x\" \"abc\"", "\"x,abc", "\"x\"; \"abc\"",
                            "*, \"x\"",  ",,,",           "\"\""};
    for (const char* value : misses)
        EXPECT_FALSE(if_none_match_hits(value, "\"abc\"")) << value;
}

}  // namespace
}  // namespace restante
