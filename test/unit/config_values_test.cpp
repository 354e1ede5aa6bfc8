#include "cli/config_values.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

using namespace std::chrono_literals;

TEST(config_values, durations)
{
    EXPECT_EQ(parse_duration("500ms"), 500ms);
    EXPECT_EQ(parse_duration("90s"), 90s);
    EXPECT_EQ(parse_duration("5m"), 5min);
    EXPECT_EQ(parse_duration("1h"), 1h);
    EXPECT_EQ(parse_duration("24h"), 24h);
    EXPECT_EQ(parse_duration("30d"), 720h);
    EXPECT_EQ(parse_duration("0"), 0s);
    EXPECT_EQ(parse_duration("0s"), 0s);
    EXPECT_EQ(parse_duration("-5s"), -5s);
}

TEST(config_values, what_is_no_duration)
{
    for (const char* text : {"", "s", "90", "5 m", " 5m", "5m ", "5M", "1.5h", "1h30m", "5min", "1e3s", "+5s",
                             "0x5s", "9223372036854775807h", "99999999999999999999s", "--5s"})
        EXPECT_FALSE(parse_duration(text)) << text;
}

TEST(config_values, sizes)
{
    EXPECT_EQ(parse_size("26214400"), 26'214'400);
    EXPECT_EQ(parse_size("64KiB"), 65'536);
    EXPECT_EQ(parse_size("128MiB"), 134'217'728);
    EXPECT_EQ(parse_size("1GiB"), 1'073'741'824);
    EXPECT_EQ(parse_size("2TiB"), 2'199'023'255'552);
    EXPECT_EQ(parse_size("5B"), 5);
    for (const char* text : {"", "MiB", "1MB", "1M", "1mib", "1.5GiB", "1 GiB", "9999999999TiB", "1KiBs"})
        EXPECT_FALSE(parse_size(text)) << text;
}

TEST(config_values, numbers_and_switches)
{
    EXPECT_EQ(parse_whole_number("0"), 0);
    EXPECT_EQ(parse_whole_number("-7"), -7);
    for (const char* text : {"", "x", "1x", "1 ", " 1", "1.0", "+1", "99999999999999999999"})
        EXPECT_FALSE(parse_whole_number(text)) << text;
    for (const char* text : {"true", "yes", "on", "1"})
        EXPECT_EQ(parse_bool(text), true) << text;
    for (const char* text : {"false", "no", "off", "0"})
        EXPECT_EQ(parse_bool(text), false) << text;
    for (const char* text : {"", "TRUE", "2", "maybe"})
        EXPECT_FALSE(parse_bool(text)) << text;
}

TEST(config_values, addresses)
{
    const auto v4 = parse_host_port("127.0.0.1:8080");
    ASSERT_TRUE(v4);
    EXPECT_EQ(v4->host, "127.0.0.1");
    EXPECT_EQ(v4->port, 8080);

    const auto v6 = parse_host_port("[::1]:0");
    ASSERT_TRUE(v6);
    EXPECT_EQ(v6->host, "::1");
    EXPECT_EQ(v6->port, 0);

    EXPECT_TRUE(parse_host_port("chat.example.com:65535"));
    for (const char* text : {"",
                             ":",
                             ":80",
                             "localhost",
                             "localhost:",
                             "localhost:x",
                             "localhost:65536",
                             "localhost:-1",
                             "localhost:-0",
                             "localhost:80 ",
                             "::1:80",
                             "[::1]",
                             "[::1]80",
                             "[]:80",
                             "[127.0.0.1]:80",
                             "[zz]:80",
                             "1.2.3:80",
                             "999.0.0.1:80",
                             "1:2:3",
                             "a b:80",
                             "http://x:80",
                             "user@x:80"})
        EXPECT_FALSE(parse_host_port(text)) << text;
}

TEST(config_values, origins)
{
    for (const char* text : {"*", "https://chat.example.com", "http://localhost:3000", "http://[::1]:80"})
        EXPECT_TRUE(is_origin(text)) << text;
    for (const char* text : {"", "chat.example.com", "https://", "https://x/", "https://x/path", "ftp://x",
                             "null", "https://a b", "https://x:99999"})
        EXPECT_FALSE(is_origin(text)) << text;
}

TEST(config_values, a_host_has_no_port)
{
    for (const auto* text : {"chat.example.com", "localhost", "10.0.0.7", "[fd00::7]", "*"})
        EXPECT_EQ(parse_host_name(text)->text, text);
    for (const auto* text : {"", "chat.example.com:80", "https://chat.example.com", "a b", "fd00::7",
                             "[::1]:8", "[x]", "a/b", "**"})
        EXPECT_FALSE(parse_host_name(text)) << text;
}

TEST(config_values, written_as_they_are_read)
{
    for (const auto value : {0us, 500'000us, 90'000'000us, 86'400'000'000us, 7'776'000'000'000us, 1'000us})
        EXPECT_EQ(parse_duration(format_duration(value)), value);
    EXPECT_EQ(format_duration(90s), "90s");
    EXPECT_EQ(format_duration(1h), "1h");
    EXPECT_EQ(format_duration(24h), "1d");

    for (const std::uint64_t value :
         {0ull, 1ull, 1023ull, 65'536ull, 26'214'400ull, 134'217'728ull, 26'214'401ull})
        EXPECT_EQ(parse_size(format_size(value)), static_cast<std::int64_t>(value));
    EXPECT_EQ(format_size(26'214'400), "25MiB");

    EXPECT_EQ(format_host_port({"::1", 80}), "[::1]:80");
    EXPECT_EQ(format_host_port({"127.0.0.1", 0}), "127.0.0.1:0");
}

TEST(config_values, loopback)
{
    for (const char* host : {"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "localhost"})
        EXPECT_TRUE(is_loopback({host, 1})) << host;
    for (const char* host :
         {"0.0.0.0", "::", "10.0.0.1", "::ffff:10.0.0.1", "example.com", "localhost.example.com"})
        EXPECT_FALSE(is_loopback({host, 1})) << host;
}

TEST(config_values, quoted_values_are_short_and_harmless)
{
    EXPECT_EQ(in_quotes("abc"), "\"abc\"");
    EXPECT_EQ(in_quotes("a\nb\x1B"), "\"a?b?\"");
    EXPECT_EQ(in_quotes(std::string(100, 'x')), '"' + std::string(80, 'x') + "...\"");
}

TEST(config_values, base_urls)
{
    for (const auto* good :
         {"https://files.example.com", "http://127.0.0.1:8080", "https://[::1]:8443/box/a"})
        EXPECT_EQ(parse_base_url(good)->text, good);
    EXPECT_EQ(parse_base_url("https://a.example/x//")->text, "https://a.example/x");
    for (const auto* bad :
         {"", "*", "files.example.com", "ftp://a.example", "https://", "https:///x", "https://a b",
          "https://a.example?x", "https://a.example/#f", "https://user@a.example"})
        EXPECT_FALSE(parse_base_url(bad)) << bad;
}

}  // namespace
}  // namespace restante
