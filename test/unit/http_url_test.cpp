#include "http/client/http_url.hpp"

#include "server/api/common/callback_url.hpp"

#include <gtest/gtest.h>

namespace restante::test {
namespace {

struct read_row {
    const char* url;
    bool tls;
    const char* host;
    int port;
    const char* path;
    const char* authority;
};

const read_row readable[] = {
    {"http://example.org", false, "example.org", 80, "", "example.org"},
    {"HTTPS://Example.ORG/", true, "example.org", 443, "/", "example.org"},
    {"http://example.org.:8080/a/b/", false, "example.org", 8080, "/a/b/", "example.org:8080"},
    {"https://example.org:443/%7Ea", true, "example.org", 443, "/%7Ea", "example.org"},
    {"http://xn--bcher-kva.example/", false, "xn--bcher-kva.example", 80, "/", "xn--bcher-kva.example"},
    {"http://127.0.0.1.example/", false, "127.0.0.1.example", 80, "/", "127.0.0.1.example"},
    {"http://my_host:1", false, "my_host", 1, "", "my_host:1"},
    {"http://1.2.3.example:65535", false, "1.2.3.example", 65535, "", "1.2.3.example:65535"},
    {"http://127.0.0.1:80/", false, "127.0.0.1", 80, "/", "127.0.0.1"},
    {"http://[::1]:8080/x", false, "::1", 8080, "/x", "[::1]:8080"},
    {"http://[::FFFF:127.0.0.1]", false, "::ffff:127.0.0.1", 80, "", "[::ffff:127.0.0.1]"},
    // What inet_aton takes for an address is one.
    {"http://0x7f.1/", false, "127.0.0.1", 80, "/", "127.0.0.1"},
    {"http://0X7F.0.0.1/", false, "127.0.0.1", 80, "/", "127.0.0.1"},
    {"http://2130706433/", false, "127.0.0.1", 80, "/", "127.0.0.1"},
    {"http://017700000001/", false, "127.0.0.1", 80, "/", "127.0.0.1"},
    {"http://0177.0.0.01/", false, "127.0.0.1", 80, "/", "127.0.0.1"},
    {"http://127.1/", false, "127.0.0.1", 80, "/", "127.0.0.1"},
    {"http://127.0.1/", false, "127.0.0.1", 80, "/", "127.0.0.1"},
    {"http://127.0.0.1./", false, "127.0.0.1", 80, "/", "127.0.0.1"},
    {"http://0/", false, "0.0.0.0", 80, "/", "0.0.0.0"},
    {"http://0x/", false, "0.0.0.0", 80, "/", "0.0.0.0"},
    {"http://0xa9fea9fe/", false, "169.254.169.254", 80, "/", "169.254.169.254"},
};

TEST(http_url, reads_what_can_be_called)
{
    for (const auto& each : readable) {
        const auto url = parse_http_url(each.url);
        ASSERT_TRUE(url) << each.url;
        EXPECT_EQ(url->origin.tls, each.tls) << each.url;
        EXPECT_EQ(url->origin.host, each.host) << each.url;
        EXPECT_EQ(url->origin.port, each.port) << each.url;
        EXPECT_EQ(url->path, each.path) << each.url;
        EXPECT_EQ(url->origin.authority(), each.authority) << each.url;
    }
}

const char* const unreadable[] = {
    "",
    "example.org",
    "//example.org",
    "ftp://example.org",
    "file:///etc/passwd",
    "remote://no-inbound",
    "http:///path",
    "http://",
    "http://user@example.org",
    "http://user:secret@example.org",
    "http://@example.org",
    "http://example.org?x=1",
    "http://example.org/#part",
    "http://example.org:0",
    "http://example.org:65536",
    "http://example.org:http",
    "http://exa mple.org",
    "http://ex\xC3\xA4mple.org",       // Unicode
    "http://127.0.0.1%2eexample.org",  // escapes
    "http://%31%32%37.0.0.1",
    "http://\xE2\x91\xA0.example",  // a circled digit
    "http://[fe80::1%25eth0]/",     // a zone
    "http://[::1/",
    "http://[v1.x]/",
    "http://a..b/",
    "http://.a/",
    "http://a../",
    "http://-a/",
    "http://1.2.3.4.5/",
    "http://example.org:80:80/",
    "http://example.org:/",
    "http://example.org:+80/",
    "http://[::1]x/",
    "http://[::1]:/",
    "http://example.org/%zz",
    "http://example.org/%2",
    "http://256.1.1.1/",
    "http://1.2.3.256/",
    "http://127.0.0.1.256/",
    "http://0x100000000/",
    "http://4294967296/",
    "http://08.0.0.1/",  // no octal number
    "http://1..1/",
    "http://example.1/",  // ends in a number and is no address
    "http://exam\\ple.org/",
    "http://example.org/\r\nX: y",
};

TEST(http_url, refuses_what_two_readers_could_understand_differently)
{
    for (const auto* each : unreadable)
        EXPECT_FALSE(parse_http_url(each)) << each;
    EXPECT_FALSE(parse_http_url("http://" + std::string(64, 'a') + ".example"));
    EXPECT_FALSE(parse_http_url("http://example.org/" + std::string(2048, 'a')));
}

TEST(http_url, a_callback_is_judged_by_address_and_by_localhost)
{
    struct row {
        const char* url;
        bool needs_loopback;
        bool needs_private;
    };
    const row rows[] = {
        {"http://localhost/", true, false},      {"http://LOCALHOST./", true, false},
        {"http://a.localhost:80/", true, false}, {"http://127.0.0.1:1/", true, false},
        {"http://0x7f.1/", true, false},         {"http://2130706433/", true, false},
        {"http://[::1]/", true, false},          {"http://[::ffff:7f00:1]/", true, false},
        {"http://10.0.0.1/", false, true},       {"http://192.168.1.1/", false, true},
        {"http://172.16.0.1/", false, true},     {"http://[fd00::1]/", false, true},
        {"http://example.org/", false, false},   {"https://8.8.8.8/", false, false},
    };
    for (const auto& each : rows) {
        for (const address_policy policy :
             {address_policy{false, false}, {true, false}, {false, true}, {true, true}}) {
            const bool expected =
                (!each.needs_loopback || policy.loopback) && (!each.needs_private || policy.private_);
            EXPECT_EQ(check_callback_url(each.url, policy).has_value(), expected) << each.url;
        }
    }
    const address_policy everything{true, true};
    for (const auto* never : {"http://169.254.169.254/latest", "http://0/", "http://0.0.0.0/", "http://[::]/",
                              "http://100.64.0.1/", "http://224.0.0.1/", "http://[fe80::1]/",
                              "http://0xa9fea9fe/", "http://[::ffff:169.254.169.254]/", "http://192.0.2.1/"})
        EXPECT_FALSE(check_callback_url(never, everything)) << never;
}

}  // namespace
}  // namespace restante::test
