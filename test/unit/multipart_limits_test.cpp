#include "test/support/form_reading.hpp"

#include <gtest/gtest.h>

#include <string>

namespace restante::multipart {
namespace {

using namespace std::string_literals;

const std::string disposition = "Content-Disposition: form-data; name=\"files\"; filename=\"a\"\r\n";

std::string body_with_parts(std::size_t n)
{
    std::string body;
    for (std::size_t i = 0; i < n; ++i)
        body += "--b\r\n" + disposition + "\r\nx\r\n";
    return body + "--b--";
}

std::string body_with_headers(const std::string& lines)
{
    return "--b\r\n" + lines + "\r\nx\r\n--b--";
}

bool accepts(const std::string& body, const parser_limits& limits = {})
{
    return read_form(body, make_boundary("b"), {}, limits).accepted;
}

// How many bytes of an endless input a parser accepts, fed one at a time, before it fails.
std::size_t bytes_until_refusal(const std::string& start, const std::string& repeated)
{
    parser from(make_boundary("b"));
    form_reading ignored;
    if (!read_block(from, start, ignored))
        return 0;
    for (std::size_t n = 0; n < 1024 * 1024; ++n)
        if (!read_block(from, repeated.substr(n % repeated.size(), 1), ignored))
            return n + 1;
    return std::string::npos;
}

TEST(multipart_limits, eighty_parts)
{
    EXPECT_TRUE(accepts(body_with_parts(80)));
    const auto form = read_form(body_with_parts(81), make_boundary("b"));
    EXPECT_FALSE(form.accepted);
    EXPECT_EQ(form.parts.size(), 80u);
    EXPECT_TRUE(form.parts.back().ended);
}

TEST(multipart_limits, a_hundred_thousand_empty_parts_end_at_the_first)
{
    std::string body;
    for (int i = 0; i < 100'000; ++i)
        body += "--b\r\n\r\n";
    parser from(make_boundary("b"));
    form_reading ignored;
    EXPECT_FALSE(read_block(from, body + "--b--", ignored));
    EXPECT_LT(from.bytes_examined(), 100u);

    body.clear();
    for (int i = 0; i < 100'000; ++i)
        body += "--b\r\n" + disposition + "\r\n";
    parser again(make_boundary("b"));
    EXPECT_FALSE(read_block(again, body, ignored));
    EXPECT_LT(again.bytes_examined(), 81 * 2 * (disposition.size() + 10));
}

TEST(multipart_limits, sixteen_header_lines)
{
    std::string lines = disposition;
    for (int i = 1; i < 16; ++i)
        lines += "X: y\r\n";
    EXPECT_TRUE(accepts(body_with_headers(lines)));
    EXPECT_FALSE(accepts(body_with_headers(lines + "X: y\r\n")));
}

TEST(multipart_limits, two_kibibytes_of_headers)
{
    const auto lines_of = [](std::size_t size) {
        return disposition + "X: " + std::string(size - disposition.size() - 5, 'y') + "\r\n";
    };
    ASSERT_EQ(lines_of(2048).size(), 2048u);
    EXPECT_TRUE(accepts(body_with_headers(lines_of(2048))));
    EXPECT_FALSE(accepts(body_with_headers(lines_of(2049))));
}

TEST(multipart_limits, headers_that_never_end_are_refused_at_the_limit)
{
    EXPECT_LE(bytes_until_refusal("--b\r\n", "x"), 2048u + 3);
    EXPECT_LE(bytes_until_refusal("--b\r\n", "\n"), 2048u + 3);
    EXPECT_LE(bytes_until_refusal("--b\r\n", "\r"), 2048u + 3);
    EXPECT_LE(bytes_until_refusal("--b\r\n", "X: y\r\n"), 17u * 6);
}

TEST(multipart_limits, framing_is_bounded_before_the_first_and_after_the_last_delimiter)
{
    constexpr std::size_t limit = 256 * 1024;
    for (const auto& text : {"x"s, "\r"s, "-"s, " "s, "\r\n--"s}) {
        const auto before = bytes_until_refusal("", text);
        const auto after = bytes_until_refusal("--b\r\n" + disposition + "\r\nx\r\n--b--\r\n", text);
        EXPECT_GT(before, limit - 16) << text;
        EXPECT_LE(before, limit + 16) << text;
        EXPECT_GT(after, limit - 128) << text;
        EXPECT_LE(after, limit) << text;
    }
    EXPECT_LE(bytes_until_refusal("--b", " "), limit);
    EXPECT_LE(bytes_until_refusal("--b\r\n" + disposition + "\r\nx\r\n--b--", " "), limit);
    EXPECT_FALSE(accepts(std::string(1024 * 1024, 'x') + "\r\n" + body_with_parts(1)));
    EXPECT_FALSE(accepts(body_with_parts(1) + "\r\n" + std::string(1024 * 1024, 'x')));
}

TEST(multipart_limits, the_framing_budget_is_exact_and_leaves_content_alone)
{
    const auto body = "pre\r\n" + body_with_parts(3) + "\r\npost";
    const auto framing = body.size() - 3;
    EXPECT_TRUE(accepts(body, {.framing_bytes = framing}));
    EXPECT_FALSE(accepts(body, {.framing_bytes = framing - 1}));

    const auto large = body_with_headers(disposition + "\r\n" + std::string(1024 * 1024, '\r'));
    EXPECT_TRUE(accepts(large));
}

}  // namespace
}  // namespace restante::multipart
