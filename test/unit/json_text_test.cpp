#include "core/json_text.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

template <class T>
std::string json(const T& value)
{
    std::string out = "x";
    append_json(out, value);
    return out.substr(1);
}

TEST(json_text, plain_text_is_quoted_and_nothing_else)
{
    EXPECT_EQ(json(""), R"("")");
    EXPECT_EQ(json("report.pdf"), R"("report.pdf")");
    EXPECT_EQ(json("größe \xF0\x9F\x93\x84"), "\"größe \xF0\x9F\x93\x84\"");
}

TEST(json_text, quotes_backslashes_and_control_characters_are_escaped)
{
    EXPECT_EQ(json(R"(a"b\c)"), R"("a\"b\\c")");
    EXPECT_EQ(json("\b\f\n\r\t"), R"("\b\f\n\r\t")");
    EXPECT_EQ(json(std::string_view("\0\x01\x1f\x7f", 4)), "\"\\u0000\\u0001\\u001f\x7f\"");
    EXPECT_EQ(json("\"\""), R"("\"\"")");
}

TEST(json_text, numbers_reach_both_ends)
{
    EXPECT_EQ(json(std::int64_t{0}), "0");
    EXPECT_EQ(json(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
    EXPECT_EQ(json(std::numeric_limits<std::int64_t>::max()), "9223372036854775807");
}

TEST(json_text, ids_and_times_are_strings)
{
    EXPECT_EQ(json(uuid{}), R"("00000000-0000-0000-0000-000000000000")");
    EXPECT_EQ(json(timestamp{}), R"("1970-01-01T00:00:00.000000Z")");
}

TEST(json_text, what_is_missing_is_null)
{
    EXPECT_EQ(json(std::optional<std::string_view>{}), "null");
    EXPECT_EQ(json(std::optional<std::string_view>{"x"}), R"("x")");
    EXPECT_EQ(json(std::optional<std::int64_t>{7}), "7");
}

}  // namespace
}  // namespace restante
