#include "http/message/head_scanner.hpp"

#include <gtest/gtest.h>

#include <string>

namespace restante {
namespace {

using progress = head_scanner::progress;

const std::string simple = "GET /healthz HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n";

std::string request_line(std::size_t size)
{
    const std::string_view frame = "GET / HTTP/1.1";
    return "GET /" + std::string(size - frame.size(), 'x') + " HTTP/1.1\r\n";
}

TEST(head_scanner, finds_the_end_and_leaves_what_follows)
{
    head_scanner scanner;
    ASSERT_EQ(scanner.look(simple + "the body"), progress::complete);
    EXPECT_EQ(scanner.size(), simple.size());
}

TEST(head_scanner, finds_the_same_end_however_the_bytes_arrive)
{
    for (std::size_t cut = 0; cut < simple.size(); ++cut) {
        head_scanner scanner;
        ASSERT_EQ(scanner.look(simple.substr(0, cut)), progress::incomplete) << cut;
        ASSERT_EQ(scanner.look(simple), progress::complete) << cut;
        EXPECT_EQ(scanner.size(), simple.size()) << cut;
    }
    head_scanner scanner;
    for (std::size_t n = 0; n < simple.size(); ++n)
        ASSERT_EQ(scanner.look(simple.substr(0, n)), progress::incomplete) << n;
    EXPECT_EQ(scanner.look(simple), progress::complete);
}

struct refused_case {
    const char* why;
    std::string bytes;
    errc expected;
};

TEST(head_scanner, refuses_as_soon_as_it_can_know)
{
    using namespace std::string_literals;
    const refused_case cases[] = {
        {"TLS hello", "\x16\x03\x01\x02"s, errc::bad_request},
        {"bytes that are no text", "\x80\x99\xfe"s, errc::bad_request},
        {"NUL in the request line", "GET /\0"s, errc::bad_request},
        {"no version", "GET /x\r\n"s, errc::bad_request},
        {"only a version", " HTTP/1.1\r\n"s, errc::bad_request},
        {"a version in small letters", "GET / http/1.1\r\n"s, errc::bad_request},
        {"a version of three digits", "GET / HTTP/1.10\r\n"s, errc::bad_request},
        {"an empty line first", "\r\n"s, errc::bad_request},
        {"HTTP/1.2", "GET / HTTP/1.2\r\n"s, errc::http_version_not_supported},
        {"HTTP/2.0", "PRI * HTTP/2.0\r\n"s, errc::http_version_not_supported},
        {"HTTP/0.9", "GET / HTTP/0.9\r\n"s, errc::http_version_not_supported},
        {"bare LF after the request line", "GET / HTTP/1.1\n"s, errc::bad_request},
        {"bare LF after a field", "GET / HTTP/1.1\r\nHost: a\n"s, errc::bad_request},
        {"bare CR", "GET / HTTP/1.1\r\nHost: a\rX"s, errc::bad_request},
        {"two CR", "GET / HTTP/1.1\r\nHost: a\r\r"s, errc::bad_request},
        {"NUL in a value", "GET / HTTP/1.1\r\nHost: a\0"s, errc::bad_request},
        {"escape in a value", "GET / HTTP/1.1\r\nHost: \x1b"s, errc::bad_request},
        {"DEL in a value", "GET / HTTP/1.1\r\nHost: \x7f"s, errc::bad_request},
        {"a folded line", "GET / HTTP/1.1\r\nHost: a\r\n b\r\n"s, errc::bad_request},
        {"a folded line, with a tab", "GET / HTTP/1.1\r\nHost: a\r\n\tb\r\n"s, errc::bad_request},
        {"a blank before the first field", "GET / HTTP/1.1\r\n Host: a\r\n"s, errc::bad_request},
    };
    for (const auto& each : cases) {
        head_scanner scanner;
        EXPECT_EQ(scanner.look(each.bytes), progress::refused) << each.why;
        EXPECT_EQ(scanner.refusal(), each.expected) << each.why;
    }
}

// Plain text is stepped over in words: what is refused must not depend on where in a word it stands.
TEST(head_scanner, every_byte_is_judged_wherever_it_stands)
{
    const std::string line = "GET /0123456789abcdef HTTP/1.1\r\n";
    const std::string head = line + "X-Name: 0123456789abcdef\r\n\r\n";
    for (int byte = 0; byte < 256; ++byte) {
        const bool control = (byte < 0x20 && byte != '\t') || byte == 0x7F;
        for (std::size_t i = 0; i < 16; ++i) {
            auto changed = head;
            changed[line.find('0') + i] = static_cast<char>(byte);
            head_scanner target;
            const bool refused = control || byte >= 0x80 || byte == ' ';
            EXPECT_EQ(target.look(changed) == progress::refused, refused) << byte << " at " << i;
            changed = head;
            changed[head.rfind('0') + i] = static_cast<char>(byte);
            head_scanner value;
            EXPECT_EQ(value.look(changed) == progress::refused, control) << byte << " at " << i;
        }
    }
}

TEST(head_scanner, bytes_above_ascii_are_allowed_in_values_only)
{
    head_scanner scanner;
    EXPECT_EQ(scanner.look("GET / HTTP/1.1\r\nX-Name: gr\xc3\xbc\xc3\x9f\r\n\r\n"), progress::complete);
}

TEST(head_scanner, a_request_line_has_8000_bytes_at_most)
{
    head_scanner longest;
    EXPECT_EQ(longest.look(request_line(head_scanner::max_request_line) + "\r\n"), progress::complete);

    head_scanner one_more;
    EXPECT_EQ(one_more.look(request_line(head_scanner::max_request_line + 1)), progress::refused);
    EXPECT_EQ(one_more.refusal(), errc::uri_too_long);

    head_scanner endless;
    EXPECT_EQ(endless.look("GET /" + std::string(head_scanner::max_request_line, 'x')), progress::refused);
    EXPECT_EQ(endless.refusal(), errc::uri_too_long);
}

TEST(head_scanner, a_header_block_has_16_kib_at_most)
{
    const std::string line = "GET / HTTP/1.1\r\n";
    const auto block = [](std::size_t size) { return "X: " + std::string(size - 7, 'v') + "\r\n\r\n"; };

    head_scanner largest;
    EXPECT_EQ(largest.look(line + block(head_scanner::max_block)), progress::complete);
    EXPECT_LE(largest.size(), head_scanner::max_head);

    head_scanner one_more;
    EXPECT_EQ(one_more.look(line + block(head_scanner::max_block + 1)), progress::refused);
    EXPECT_EQ(one_more.refusal(), errc::headers_too_large);
}

// The pattern that Beast's own limit misses: each packet ends one byte into the next field.
TEST(head_scanner, the_limit_holds_for_fields_that_trickle_in)
{
    head_scanner scanner;
    std::string received = "GET / HTTP/1.1\r\nX";
    auto seen = scanner.look(received);
    for (int i = 0; i < 1000 && seen == progress::incomplete; ++i) {
        received += ": " + std::string(1000, 'v') + "\r\nX";
        seen = scanner.look(received);
    }
    EXPECT_EQ(seen, progress::refused);
    EXPECT_EQ(scanner.refusal(), errc::headers_too_large);
    EXPECT_LT(received.size(), head_scanner::max_head + 2000);
}

TEST(head_scanner, sixty_four_fields_and_no_more)
{
    std::string head = "GET / HTTP/1.1\r\n";
    for (std::size_t i = 0; i < head_scanner::max_fields; ++i)
        head += "X: 1\r\n";
    head_scanner full;
    EXPECT_EQ(full.look(head + "\r\n"), progress::complete);
    head_scanner one_more;
    EXPECT_EQ(one_more.look(head + "X: 1\r\n"), progress::refused);
    EXPECT_EQ(one_more.refusal(), errc::headers_too_large);
}

}  // namespace
}  // namespace restante
