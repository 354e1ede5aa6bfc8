#include "http/message/request_target.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace restante {
namespace {

// A target is in the middle of a buffer and not NUL-terminated, which Boost.URL 1.81 assumes in
// parse_query(). Here it ends where its allocation ends, so that AddressSanitizer detects an over-read.
class in_exact_memory {
public:
    explicit in_exact_memory(std::string_view text) : bytes_(text.begin(), text.end()) {}
    operator std::string_view() const { return {bytes_.data(), bytes_.size()}; }

private:
    std::vector<char> bytes_;
};

std::string path_of(std::string_view target)
{
    const auto parsed = parse_request_target(in_exact_memory(target));
    return parsed ? parsed->path : "refused";
}

TEST(uri, paths_are_decoded)
{
    EXPECT_EQ(path_of("/"), "/");
    EXPECT_EQ(path_of("/healthz"), "/healthz");
    EXPECT_EQ(path_of("/health%7A"), "/healthz");
    EXPECT_EQ(path_of("/healthz/"), "/healthz/");
    EXPECT_EQ(path_of("//healthz"), "//healthz");
    EXPECT_EQ(path_of("/a//b"), "/a//b");
    EXPECT_EQ(path_of("/a?b/c"), "/a");
    EXPECT_EQ(path_of("/a:b@c,d;e=f"), "/a:b@c,d;e=f");
    EXPECT_EQ(path_of("/a+b"), "/a+b");
    EXPECT_EQ(path_of("/..."), "/...");
    EXPECT_EQ(path_of("*"), "*");
}

TEST(uri, absolute_targets_lose_their_origin)
{
    EXPECT_EQ(path_of("http://a.example/healthz?x=1"), "/healthz");
    EXPECT_EQ(path_of("https://a.example:8443"), "/");
    EXPECT_EQ(path_of("https://a.example?x=1"), "/");
    EXPECT_EQ(path_of("http://[::1]:80/healthz"), "/healthz");
    EXPECT_EQ(path_of("http://[::1].a"), "refused");
    EXPECT_EQ(path_of("mailto:a@b"), "refused");
    EXPECT_EQ(path_of("ftp://a/x"), "refused");
    EXPECT_EQ(path_of("http:///x"), "refused");
    EXPECT_EQ(path_of("http://u@a/x"), "refused");
    EXPECT_EQ(path_of("healthz"), "refused");
    EXPECT_EQ(path_of(""), "refused");
}

TEST(uri, paths_with_two_meanings_are_refused)
{
    for (const char* target :
         {"/%00",        "/a%00b",   "/%zz",       "/%2",    "/%",     "/a%2",    "/%2e%2e%2f",
          "/%2e%2e/x",   "/%2E/x",   "/.",         "/..",    "/../x",  "/x/..",   "/x/./y",
          "/./x",        "/.//x",    "//./x",      "/x/.",   "/%2e",   "/.%2e/x", "/x%2fy",
          "/x%2Fy",      "/x\\y",    "/x%5cy",     "/x%0ay", "/x%0dy", "/x%1by",  "/x%7fy",
          "/x%80",       "/x%c3%bc", "/x\xc3\xbc", "/x y",   "/x\ty",  "/x#y",    "/x|y",
          "/x\"y",       "/x<y>",    "/x^y",       "/x`y",   "/x{y}",  "/x[y]",   "http://a/../x",
          "http://a/%00"})
        EXPECT_EQ(path_of(target), "refused") << target;
}

// nullopt: absent; "refused": present, but ambiguous or invalid.
std::optional<std::string> param(std::string_view query, std::string_view name)
{
    const auto target = parse_request_target(in_exact_memory("/x?" + std::string(query)));
    if (!target)
        return "broken query";
    const auto value = target->query.get(name);
    if (!value)
        return "refused";
    if (!*value)
        return std::nullopt;
    return std::string(**value);
}

// Targets without anything to decode are read without the parser of URLs. One escape sends them through it,
// and must not change what comes out.
TEST(uri, plain_targets_mean_the_same_as_escaped_ones)
{
    for (const std::string rest :
         {"/x", "/x/", "/x/y-z_1", "/x?a", "/x?a=", "/x?=a", "/x?a=b", "/x?a=b=c", "/x?a=b&c=d", "/x?a&&b",
          "/x?&a=b", "/x?a=b&", "/x?=", "/x?&", "/x?a=1&a=2", "/x?A-b_c=D"}) {
        const auto plain = parse_request_target(in_exact_memory(rest));
        const auto escaped = parse_request_target(in_exact_memory("/%78" + rest.substr(2)));
        ASSERT_TRUE(plain && escaped) << rest;
        EXPECT_EQ(plain->path, escaped->path) << rest;
        for (const auto* name : {"", "a", "b", "c", "A-b_c", "other"}) {
            const auto one = plain->query.get(name);
            const auto other = escaped->query.get(name);
            ASSERT_EQ(one.has_value(), other.has_value()) << rest << ' ' << name;
            if (one)
                EXPECT_EQ(*one, *other) << rest << ' ' << name;
        }
    }
}

TEST(uri, query_parameters_are_found_by_name)
{
    EXPECT_EQ(param("limit=5", "limit"), "5");
    EXPECT_EQ(param("a=1&limit=5&b=2", "limit"), "5");
    EXPECT_EQ(param("limit=", "limit"), "");
    EXPECT_EQ(param("limit", "limit"), "");
    EXPECT_EQ(param("LIMIT=5", "limit"), std::nullopt);
    EXPECT_EQ(param("", "limit"), std::nullopt);
    EXPECT_EQ(param("&&", "limit"), std::nullopt);
    EXPECT_EQ(param("a=b=c", "a"), "b=c");
    EXPECT_EQ(param("a=%26%3D", "a"), "&=");
    EXPECT_EQ(param("%61=1", "a"), "1");
    EXPECT_EQ(param("a=1+2%2B3", "a"), "1 2+3");
    EXPECT_EQ(param("q=M%C3%BCller+%F0%9F%93%AC", "q"), "M\u00fcller \U0001F4EC");
    EXPECT_EQ(param("t=2026-01-01T00:00:00Z", "t"), "2026-01-01T00:00:00Z");
}

TEST(uri, a_known_parameter_has_one_meaning)
{
    EXPECT_EQ(param("limit=5&limit=6", "limit"), "refused");
    EXPECT_EQ(param("limit=5&limit=5", "limit"), "refused");
    EXPECT_EQ(param("limit=5&%6cimit=6", "limit"), "refused");
    EXPECT_EQ(param("limit=%00", "limit"), "refused");
    EXPECT_EQ(param("limit=%0a", "limit"), "refused");
    for (const auto* bad : {"%ff", "%C3", "%ED%A0%80", "%7F", "%1B"})
        EXPECT_EQ(param("limit=" + std::string(bad), "limit"), "refused") << bad;
}

TEST(uri, unknown_parameters_are_ignored_whatever_they_hold)
{
    EXPECT_EQ(param("name=%c3%bc&name=%00&limit=5", "limit"), "5");
}

TEST(uri, broken_queries_are_refused_as_a_whole)
{
    for (const char* query : {"a=%zz", "a=%2", "%", "a=\x01", "a=\xc3\xbc", "a=b c", "a=\\", "a#b", "a=%2&b"})
        EXPECT_EQ(param(query, "limit"), "broken query") << query;
    EXPECT_FALSE(parse_request_target("/healthz?a=%zz"));
}

TEST(uri, at_most_32_parameters)
{
    std::string query = "p=1";
    for (std::size_t i = 1; i < query_params::max_params; ++i)
        query += "&x=1";
    EXPECT_EQ(param(query, "p"), "1");
    EXPECT_EQ(param(query + "&x=1", "p"), "broken query");
    EXPECT_EQ(param(std::string(5000, '&'), "p"), "broken query");
}

}  // namespace
}  // namespace restante
