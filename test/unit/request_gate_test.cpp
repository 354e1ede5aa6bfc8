#include "http/message/request_gate.hpp"

#include "test/support/read_head.hpp"

#include <boost/asio/error.hpp>
#include <boost/beast/http/error.hpp>
#include <gtest/gtest.h>

#include <string>

namespace restante {
namespace {

namespace http = boost::beast::http;
using testing::read_head;

constexpr std::optional<errc> ok = std::nullopt;

struct head_case {
    std::string line;    // the request line, without CRLF
    std::string fields;  // separated by `|`
    std::optional<errc> expected;
};

std::string to_bytes(const head_case& each)
{
    std::string bytes = each.line + "\r\n";
    for (const char c : each.fields) {
        if (c == '|')
            bytes += "\r\n";
        else
            bytes += c;
    }
    if (!each.fields.empty())
        bytes += "\r\n";
    return bytes + "\r\n";
}

template <std::size_t N>
void expect_verdicts(const head_case (&cases)[N])
{
    for (const auto& each : cases) {
        const auto verdict = read_head(to_bytes(each)).verdict;
        EXPECT_EQ(verdict.refusal, each.expected) << each.line << " | " << each.fields;
        if (verdict.refusal) {
            EXPECT_TRUE(verdict.close) << each.line << " | " << each.fields;
            EXPECT_EQ(verdict.body, body_kind::none) << each.line << " | " << each.fields;
            EXPECT_FALSE(verdict.expects_continue) << each.line << " | " << each.fields;
        }
    }
}

TEST(request_gate, ordinary_requests_pass)
{
    const head_case cases[] = {
        {"GET /healthz HTTP/1.1", "Host: a", ok},
        {"HEAD /healthz HTTP/1.1", "Host: a", ok},
        {"POST /x HTTP/1.1", "Host: a|Content-Length: 5", ok},
        {"POST /x HTTP/1.1", "Host: a|Transfer-Encoding: chunked", ok},
        {"POST /x HTTP/1.1", "Host: a|Transfer-Encoding: Chunked", ok},
        {"POST /x HTTP/1.1", "Host: a", ok},
        {"DELETE /x HTTP/1.1", "Host: a|Content-Length: 0", ok},
        {"GET /x HTTP/1.0", "", ok},
        {"POST /x HTTP/1.0", "Content-Length: 5", ok},
        {"BREW /x HTTP/1.1", "Host: a", ok},
    };
    expect_verdicts(cases);
}

TEST(request_gate, the_body_is_told_from_the_fields)
{
    const auto with_length = read_head("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 0012\r\n\r\n").verdict;
    EXPECT_EQ(with_length.body, body_kind::length);
    EXPECT_EQ(with_length.content_length, 12u);

    const auto chunked =
        read_head("POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n").verdict;
    EXPECT_EQ(chunked.body, body_kind::chunked);
    EXPECT_EQ(chunked.content_length, 0u);

    EXPECT_EQ(read_head("POST /x HTTP/1.1\r\nHost: a\r\n\r\n").verdict.body, body_kind::none);
}

TEST(request_gate, content_length_is_one_plain_number)
{
    const head_case cases[] = {
        {"POST /x HTTP/1.1", "Host: a|Content-Length: +5", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Content-Length: -1", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Content-Length: 0x5", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Content-Length: 5 5", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Content-Length: 5.0", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Content-Length:", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Content-Length: ,", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Content-Length: 5,", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Content-Length: 5, 5", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Content-Length: 5, 6", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Content-Length: 9223372036854775807", ok},
        {"POST /x HTTP/1.1", "Host: a|Content-Length: 18446744073709551615", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Content-Length: 100000000000000000000", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Content-Length: 000000000000000000005", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Content-Length: 5|Content-Length: 6", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Content-Length: 5|Content-Length: 5", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Content-Length : 5", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Content-Length 5", errc::bad_request},
    };
    expect_verdicts(cases);
}

TEST(request_gate, transfer_encoding_is_chunked_or_refused)
{
    constexpr auto unknown = errc::transfer_coding_not_implemented;
    const head_case cases[] = {
        {"POST /x HTTP/1.1", "Host: a|Transfer-Encoding: gzip", unknown},
        {"POST /x HTTP/1.1", "Host: a|Transfer-Encoding: xchunked", unknown},
        {"POST /x HTTP/1.1", "Host: a|Transfer-Encoding: identity", unknown},
        {"POST /x HTTP/1.1", "Host: a|Transfer-Encoding: gzip, chunked", unknown},
        {"POST /x HTTP/1.1", "Host: a|Transfer-Encoding: chunked, gzip", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Transfer-Encoding: chunked, chunked", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Transfer-Encoding: chunked,", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Transfer-Encoding: ,chunked", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Transfer-Encoding: chunked;q=1", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Transfer-Encoding: \"chunked\"", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Transfer-Encoding: chunked @", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Transfer-Encoding:", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Transfer-Encoding: gzip|Transfer-Encoding: chunked", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Transfer-Encoding: chunked|Transfer-Encoding: chunked",
         errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Transfer-Encoding: chunked|Content-Length: 5", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Content-Length: 5|Transfer-Encoding: chunked", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Content-Length: 5|Transfer-Encoding: gzip", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Transfer-Encoding: gzip|Content-Length: 5", errc::bad_request},
        {"POST /x HTTP/1.0", "Host: a|Transfer-Encoding: chunked", errc::bad_request},
        {"POST /x HTTP/1.0", "Host: a|Transfer-Encoding: gzip", errc::bad_request},
    };
    expect_verdicts(cases);
}

TEST(request_gate, names_that_look_like_framing_are_refused)
{
    const head_case cases[] = {
        {"POST /x HTTP/1.1", "Host: a|Content_Length: 5", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|content_length: 5", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Transfer_Encoding: chunked", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Transfer.Encoding: chunked", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Content_Type: text/plain", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Content_Encoding: gzip", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|X_Custom: 1", ok},
        {"POST /x HTTP/1.1", "Host: a|My_Content_Length_In_Many_Words: 1", ok},
    };
    expect_verdicts(cases);
}

TEST(request_gate, host_is_there_once_and_is_a_host)
{
    const head_case cases[] = {
        {"GET /x HTTP/1.1", "", errc::bad_request},
        {"GET /x HTTP/1.1", "Host:", errc::bad_request},
        {"GET /x HTTP/1.1", "Host: a|Host: a", errc::bad_request},
        {"GET /x HTTP/1.1", "Host: a|Host: b", errc::bad_request},
        {"GET /x HTTP/1.0", "Host: a|Host: b", errc::bad_request},
        {"GET /x HTTP/1.1", "Host: a b", errc::bad_request},
        {"GET /x HTTP/1.1", "Host: a,b", errc::bad_request},
        {"GET /x HTTP/1.1", "Host: a/b", errc::bad_request},
        {"GET /x HTTP/1.1", "Host: user@a", errc::bad_request},
        {"GET /x HTTP/1.1", "Host: a%00", errc::bad_request},
        {"GET /x HTTP/1.1", "Host: a:", errc::bad_request},
        {"GET /x HTTP/1.1", "Host: a:x", errc::bad_request},
        {"GET /x HTTP/1.1", "Host: a:99999", errc::bad_request},
        {"GET /x HTTP/1.1", "Host: :80", errc::bad_request},
        {"GET /x HTTP/1.1", "Host: [::1", errc::bad_request},
        {"GET /x HTTP/1.1", "Host: [::1].a", errc::bad_request},
        {"GET /x HTTP/1.1", "Host: [v1.a]", errc::bad_request},
        {"GET /x HTTP/1.1", "Host: gr\xc3\xbc.example", errc::bad_request},
        {"GET /x HTTP/1.1", "Host: a.example:8443", ok},
        {"GET /x HTTP/1.1", "Host: my_service", ok},
        {"GET /x HTTP/1.1", "Host: 127.0.0.1:8080", ok},
        {"GET /x HTTP/1.1", "Host: [::1]:8080", ok},
    };
    expect_verdicts(cases);
}

TEST(request_gate, targets_are_paths_or_urls_for_the_same_host)
{
    const head_case cases[] = {
        {"GET http://a/x HTTP/1.1", "Host: a", ok},
        {"GET HTTP://A:80/x HTTP/1.1", "Host: a:80", ok},
        {"GET https://a HTTP/1.1", "Host: a", ok},
        {"GET https://a?q HTTP/1.1", "Host: a", ok},
        {"GET http://a/x HTTP/1.0", "", ok},
        {"GET http://b/x HTTP/1.1", "Host: a", errc::bad_request},
        {"GET http://u@a/x HTTP/1.1", "Host: a", errc::bad_request},
        {"GET http://u@a/x HTTP/1.0", "", errc::bad_request},
        {"GET http:///x HTTP/1.1", "Host: a", errc::bad_request},
        {"GET ftp://a/x HTTP/1.1", "Host: a", errc::bad_request},
        {"GET x HTTP/1.1", "Host: a", errc::bad_request},
        {"GET * HTTP/1.1", "Host: a", errc::bad_request},
        {"OPTIONS * HTTP/1.1", "Host: a", ok},
        {"CONNECT a:443 HTTP/1.1", "Host: a:443", errc::bad_request},
        {"GET  /x HTTP/1.1", "Host: a", errc::bad_request},
        {"GET /x  HTTP/1.1", "Host: a", errc::bad_request},
        {"GET /x y HTTP/1.1", "Host: a", errc::bad_request},
        {" GET /x HTTP/1.1", "Host: a", errc::bad_request},
        {"G@T /x HTTP/1.1", "Host: a", errc::bad_request},
    };
    expect_verdicts(cases);
}

TEST(request_gate, methods_without_a_body_have_none)
{
    for (const char* method : {"GET", "HEAD", "DELETE", "OPTIONS", "TRACE"}) {
        const std::string line = std::string(method) + " /x HTTP/1.1";
        const head_case cases[] = {
            {line, "Host: a|Content-Length: 5", errc::bad_request},
            {line, "Host: a|Transfer-Encoding: chunked", errc::bad_request},
            {line, "Host: a|Content-Length: 0", ok},
        };
        expect_verdicts(cases);
    }
}

TEST(request_gate, fields_that_must_be_single)
{
    const head_case cases[] = {
        {"GET /x HTTP/1.1", "Host: a|Authorization: Bearer x|Authorization: Bearer x", errc::bad_request},
        {"GET /x HTTP/1.1", "Host: a|Authorization: Bearer x|authorization: Basic y", errc::bad_request},
        {"POST /x HTTP/1.1", "Host: a|Content-Type: a/b|Content-Type: c/d", errc::bad_request},
        {"GET /x HTTP/1.1", "Host: a|Authorization: Bearer x", ok},
        {"GET /x HTTP/1.1", "Host: a|Accept: a/b|Accept: c/d", ok},
    };
    expect_verdicts(cases);
}

TEST(request_gate, expectations)
{
    const head_case cases[] = {
        {"POST /x HTTP/1.1", "Host: a|Content-Length: 5|Expect: foo", errc::expectation_failed},
        {"POST /x HTTP/1.1", "Host: a|Content-Length: 5|Expect:", errc::expectation_failed},
        {"POST /x HTTP/1.1", "Host: a|Content-Length: 5|Expect: 100-continue, foo", errc::expectation_failed},
        {"POST /x HTTP/1.1", "Host: a|Content-Length: 5|Expect: 100-continue|Expect: x",
         errc::expectation_failed},
    };
    expect_verdicts(cases);

    const auto expects = [](const char* line, const char* fields) {
        return read_head(to_bytes({line, fields, ok})).verdict.expects_continue;
    };
    EXPECT_TRUE(expects("POST /x HTTP/1.1", "Host: a|Content-Length: 5|Expect: 100-Continue"));
    EXPECT_TRUE(expects("POST /x HTTP/1.1", "Host: a|Transfer-Encoding: chunked|Expect: 100-continue"));
    EXPECT_FALSE(expects("POST /x HTTP/1.1", "Host: a|Content-Length: 5"));
    EXPECT_FALSE(expects("POST /x HTTP/1.1", "Host: a|Content-Length: 0|Expect: 100-continue"))
        << "nothing to wait for";
    EXPECT_FALSE(expects("POST /x HTTP/1.0", "Content-Length: 5|Expect: 100-continue"))
        << "HTTP/1.0 has no 100";
}

TEST(request_gate, keeps_connections_as_the_client_asks)
{
    const auto closes = [](const char* line, const char* fields) {
        return read_head(to_bytes({line, fields, ok})).verdict.close;
    };
    EXPECT_FALSE(closes("GET /x HTTP/1.1", "Host: a"));
    EXPECT_TRUE(closes("GET /x HTTP/1.1", "Host: a|Connection: close"));
    EXPECT_TRUE(closes("GET /x HTTP/1.1", "Host: a|Connection: Upgrade, Close"));
    EXPECT_TRUE(closes("GET /x HTTP/1.1", "Host: a|Connection: keep-alive|Connection: close"));
    EXPECT_TRUE(closes("GET /x HTTP/1.0", ""));
    EXPECT_FALSE(closes("GET /x HTTP/1.0", "Connection: keep-alive"));
}

// The scanner rejects these first; the gate does not rely on it.
TEST(request_gate, limits_hold_without_the_scanner)
{
    request_header head;
    head.method(http::verb::get);
    head.target("/" + std::string(8'000, 'x'));
    head.version(11);
    head.set(http::field::host, "a");
    EXPECT_EQ(inspect_head(head).refusal, errc::uri_too_long);

    head.target("/");
    head.version(20);
    EXPECT_EQ(inspect_head(head).refusal, errc::http_version_not_supported);

    head.version(11);
    for (int i = 0; i < 63; ++i)
        head.insert("X", "1");
    EXPECT_EQ(inspect_head(head).refusal, ok);
    head.insert("X", "1");
    EXPECT_EQ(inspect_head(head).refusal, errc::headers_too_large);
}

TEST(request_gate, what_the_parser_says_becomes_an_answer)
{
    const std::pair<http::error, errc> rows[] = {
        {http::error::end_of_stream, errc::client_gone},
        {http::error::partial_message, errc::client_gone},
        {http::error::header_limit, errc::headers_too_large},
        {http::error::body_limit, errc::request_too_large},
        {http::error::buffer_overflow, errc::bad_request},
        {http::error::bad_target, errc::bad_request},
        {http::error::bad_method, errc::bad_request},
        {http::error::bad_chunk, errc::bad_request},
        {http::error::bad_chunk_extension, errc::bad_request},
        {http::error::bad_content_length, errc::bad_request},
        {http::error::bad_transfer_encoding, errc::bad_request},
        {http::error::bad_version, errc::http_version_not_supported},
        {http::error::bad_alloc, errc::no_room},
    };
    for (const auto& [parser_says, expected] : rows)
        EXPECT_EQ(parser_error_to_errc(make_error_code(parser_says)), expected)
            << make_error_code(parser_says);
    EXPECT_EQ(parser_error_to_errc(boost::asio::error::connection_reset), errc::client_gone);
    EXPECT_EQ(parser_error_to_errc(errc::request_too_large), errc::request_too_large);
}

TEST(request_gate, chunk_extensions_are_short_and_on_one_line)
{
    EXPECT_TRUE(is_acceptable_chunk_extension(""));
    EXPECT_TRUE(is_acceptable_chunk_extension(";name=\"va\tlue\""));
    EXPECT_TRUE(is_acceptable_chunk_extension(";" + std::string(255, 'a')));
    EXPECT_FALSE(is_acceptable_chunk_extension(";" + std::string(256, 'a')));
    EXPECT_FALSE(is_acceptable_chunk_extension(";a=\"\n0\""));
}

}  // namespace
}  // namespace restante
