#include "core/file_names.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace restante {
namespace {

using namespace std::string_literals;

struct rule {
    std::string given;
    std::string expected;
};

TEST(file_names, sanitized)
{
    const std::vector<rule> table{
        {"report.pdf", "report.pdf"},
        {"my file.pdf", "my_file.pdf"},
        {"../../etc/passwd", "passwd"},
        {"weird;$name`.txt", "weird__name_.txt"},
        {"hello world!.pdf", "hello_world_.pdf"},
        {"C:\\x.txt", "C__x.txt"},
        {"A-Z_09.tar.gz", "A-Z_09.tar.gz"},

        // Nothing is left, or nothing that is allowed as a file name.
        {"", "file"},
        {".", "file"},
        {"..", "file"},
        {"...", "..."},
        {"dir/", "file"},
        {"dir/..", "file"},
        {"/", "file"},
        {"a/b/", "file"},
        {".bashrc", ".bashrc"},

        // One '_' per code point: é, €, 😀, and e with a combining accent (two code points).
        {"caf\xC3\xA9.txt", "caf_.txt"},
        {"\xE2\x82\xAC.txt", "_.txt"},
        {"\xF0\x9F\x98\x80.png", "_.png"},
        {"e\xCC\x81", "e_"},

        // One '_' per byte of invalid UTF-8: stray, truncated, overlong, surrogate, beyond the last code
        // point.
        {"a\xFF\xFE.b", "a__.b"},
        {"\xE2\x82x", "__x"},
        {"\xC0\xAF", "__"},
        {"\xED\xA0\x80", "___"},
        {"\xF4\x90\x80\x80", "____"},
        {"\xC3\xC3\xA9", "__"},

        {"a\0b"s, "a_b"},
        {"a\r\nb", "a__b"},
        {"\x7F", "_"},
        {"%2e%2e%2f", "_2e_2e_2f"},
    };
    for (const auto& [given, expected] : table)
        EXPECT_EQ(sanitize_filename(given), expected) << given;
}

TEST(file_names, long_names_keep_a_short_extension)
{
    const auto a = [](std::size_t n) { return std::string(n, 'a'); };
    EXPECT_EQ(sanitize_filename(a(100)), a(100));
    EXPECT_EQ(sanitize_filename(a(101)), a(100));
    EXPECT_EQ(sanitize_filename(a(96) + ".pdf"), a(96) + ".pdf");
    EXPECT_EQ(sanitize_filename(a(97) + ".pdf"), a(96) + ".pdf");
    EXPECT_EQ(sanitize_filename(a(240) + ".tar.gz"), a(97) + ".gz");
    EXPECT_EQ(sanitize_filename(a(200) + "."), a(99) + ".");

    const auto fifteen = "."s + std::string(15, 'x');
    EXPECT_EQ(sanitize_filename(a(200) + fifteen), a(84) + fifteen);
    EXPECT_EQ(sanitize_filename(a(200) + fifteen + "x"), a(100));
    EXPECT_EQ(sanitize_filename("." + a(150)), "." + a(99));

    // The limit is on characters of the result: 60 two-byte letters are 60.
    std::string accents;
    for (int i = 0; i < 60; ++i)
        accents += "\xC3\xA9";
    EXPECT_EQ(sanitize_filename(accents), std::string(60, '_'));
}

TEST(file_names, every_sanitized_name_is_safe)
{
    for (int first = 0; first < 256; ++first)
        for (int second = 0; second < 256; ++second) {
            const std::string raw{static_cast<char>(first), static_cast<char>(second)};
            const auto name = sanitize_filename(raw);
            ASSERT_FALSE(name.empty());
            ASSERT_EQ(
                name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"),
                std::string::npos);
            ASSERT_TRUE(name != "." && name != "..");
        }
}

TEST(file_names, original_name_keeps_the_text)
{
    const std::vector<rule> table{
        {"caf\xC3\xA9 \xF0\x9F\x98\x80.txt", "caf\xC3\xA9 \xF0\x9F\x98\x80.txt"},
        {"../../etc/passwd", "../../etc/passwd"},
        {"a\tb\x01\x7F\0c\r\n"s, "abc"},
        {"a\xC2\x80\xC2\x9F\xC2\xA0z", "a\xC2\xA0z"},  // C1 is removed, the no-break space after it stays
        {"a\xFFz", "a\xEF\xBF\xBDz"},
        {"\xC0\xAF", "\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"", ""},
    };
    for (const auto& [given, expected] : table)
        EXPECT_EQ(original_name(given), expected);
}

TEST(file_names, original_name_is_cut_between_code_points)
{
    EXPECT_EQ(original_name(std::string(255, 'a')), std::string(255, 'a'));
    EXPECT_EQ(original_name(std::string(254, 'a') + "\xC3\xA9"), std::string(254, 'a'));
    EXPECT_EQ(original_name(std::string(254, 'a') + "\xC3\xA9" + "b"), std::string(254, 'a'));
    EXPECT_EQ(original_name(std::string(255, '\xFF')).size(), 255u);
}

TEST(file_names, mimetype)
{
    const std::vector<rule> table{
        {"text/html; charset=x", "text/html"},
        {" \timage/png\t ", "image/png"},
        {"Image/SVG+xml", "Image/SVG+xml"},
        {"a/b;;;", "a/b"},
        {"", ""},
        {"  ", ""},
        {";charset=x", ""},
        {" ; charset=x", ""},
        {"type/", "application/octet-stream"},
        {"/subtype", "application/octet-stream"},
        {"/", "application/octet-stream"},
        {"text", "application/octet-stream"},
        {"a/b/c", "application/octet-stream"},
        {"a//b", "application/octet-stream"},
        {"text/html\r\nX-Evil: 1", "application/octet-stream"},
        {"text/html\n", "application/octet-stream"},
        {"text/ html", "application/octet-stream"},
        {"text/h\0tml"s, "application/octet-stream"},
        {"text/h\xC3\xA9", "application/octet-stream"},
        {"text/h\x7F", "application/octet-stream"},
        {"!/~", "!/~"},
    };
    for (const auto& [given, expected] : table)
        EXPECT_EQ(normalize_mimetype(given), expected) << given;
}

TEST(file_names, percent_encoding)
{
    EXPECT_EQ(percent_encode_rfc5987("report-1.pdf"), "report-1.pdf");
    EXPECT_EQ(percent_encode_rfc5987("a b\"'%*\xC3\xA9;\n"), "a%20b%22%27%25%2A%C3%A9%3B%0A");
    EXPECT_EQ(percent_encode_rfc5987("!#$&+-.^_`|~"), "!#$&+-.^_`|~");
    EXPECT_EQ(percent_encode_rfc5987("\0"s), "%00");
}

}  // namespace
}  // namespace restante
