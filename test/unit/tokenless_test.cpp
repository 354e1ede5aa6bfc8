#include "server/api/common/tokenless.hpp"

#include "http/message/origin.hpp"
#include "test/support/read_head.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

using testing::read_head;

// A request to http://localhost:8080 with these fields, separated by `|`.
request_header head_with(std::string fields)
{
    for (auto at = fields.find('|'); at != std::string::npos; at = fields.find('|', at))
        fields.replace(at, 1, "\r\n");
    if (!fields.empty())
        fields += "\r\n";
    return read_head("POST /x HTTP/1.1\r\nHost: localhost:8080\r\n" + fields + "\r\n").header;
}

TEST(origin, of_the_server_itself_is_its_host)
{
    for (const auto& [origin, host] : {std::pair{"http://localhost:8080", "localhost:8080"},
                                       {"http://LOCALHOST:8080", "localhost:8080"},
                                       {"http://localhost", "localhost"},
                                       {"http://localhost", "localhost:80"},
                                       {"https://chat.example", "chat.example"},
                                       {"https://chat.example", "chat.example:443"},
                                       {"http://[::1]:8080", "[::1]:8080"},
                                       {"http://localhost:8080/", "localhost:8080"},
                                       {"http://localhost:8080/some/path", "localhost:8080"},
                                       {"http://localhost:80", "localhost"},
                                       {"http://localhost:80/", "localhost:80"},
                                       {"https://chat.example:443", "chat.example"},
                                       {"https://chat.example:443/box/", "chat.example"}})
        EXPECT_TRUE(is_own_origin(origin, host, false)) << origin << " " << host;
    for (const auto& [origin, host] : {std::pair{"http://localhost:3000", "localhost:8080"},
                                       {"http://localhost", "localhost:8080"},
                                       {"http://localhost:8080", "localhost"},
                                       {"http://localhost", "localhost:443"},
                                       {"http://127.0.0.1:8080", "localhost:8080"},
                                       {"http://evil.example", "localhost:8080"},
                                       {"http://localhost:8080.evil.example", "localhost:8080"},
                                       {"null", "localhost:8080"},
                                       {"http://", ""},
                                       {"http:///", ""},
                                       {"http://:80", ""},
                                       {"http://localhost:443", "localhost"},
                                       {"http://localhost:8080@evil.example/", "localhost:8080"},
                                       {"http://evil.example/localhost:8080", "localhost:8080"},
                                       {"https://chat.example:80", "chat.example"},
                                       {"localhost:8080", "localhost:8080"}})
        EXPECT_FALSE(is_own_origin(origin, host, false)) << origin << " " << host;
}

TEST(origin, over_tls_is_https)
{
    EXPECT_TRUE(is_own_origin("https://localhost:8443", "localhost:8443", true));
    EXPECT_FALSE(is_own_origin("http://localhost", "localhost", true)) << "something else, on port 80";
}

TEST(origin, of_the_public_url_is_its_own_behind_a_proxy_that_changes_the_host)
{
    const cors_policy published({}, "https://files.example:443/box");
    for (const char* origin :
         {"https://files.example", "https://FILES.example/box", "https://files.example:443/"}) {
        const auto head = head_with("Origin: " + std::string(origin));
        EXPECT_TRUE(has_welcome_origin(head, false, published)) << origin;
        EXPECT_FALSE(is_cross_site(head, false, published)) << origin;
        EXPECT_FALSE(has_welcome_origin(head, false, cors_policy({}))) << origin;
        EXPECT_TRUE(published.response_fields(origin).empty()) << "its own pages need no permission";
    }
    for (const char* origin :
         {"http://files.example", "https://files.example:8443", "https://other.example", "null"})
        EXPECT_FALSE(has_welcome_origin(head_with("Origin: " + std::string(origin)), false, published))
            << origin;
}

TEST(origin, what_is_cross_site_says_so_in_one_field_or_the_other)
{
    const cors_policy none({});
    const cors_policy canvas({"https://canvas.example"});
    struct site_case {
        const char* fields;
        bool without_setting;
        bool with_setting;
    };
    for (const auto& each : {
             site_case{"", false, false},
             {"Origin: http://localhost:8080", false, false},
             {"Origin: http://localhost:8080|Sec-Fetch-Site: same-origin", false, false},
             {"Sec-Fetch-Site: same-origin", false, false},
             {"Sec-Fetch-Site: none", false, false},
             {"Origin: http://evil.example", true, true},
             {"Origin: null", true, true},
             {"Origin:", true, true},
             {"Origin: http://localhost:3000", true, true},
             {"Origin: http://localhost:8080|Origin: http://evil.example", true, true},
             {"Origin: http://localhost:8080|Sec-Fetch-Site: cross-site", true, true},
             {"Sec-Fetch-Site: cross-site", true, true},
             {"Sec-Fetch-Site: same-site", true, true},
             {"Sec-Fetch-Site: something-new", true, true},
             {"Origin: https://canvas.example", true, false},
             {"Origin: https://canvas.example|Sec-Fetch-Site: cross-site", true, false},
         }) {
        const auto head = head_with(each.fields);
        EXPECT_EQ(is_cross_site(head, false, none), each.without_setting) << each.fields;
        EXPECT_EQ(is_cross_site(head, false, canvas), each.with_setting) << each.fields;
    }
}

constexpr auto json = "Content-Type: application/json";
constexpr tokenless_policy under_dev{.dev = true, .registration = open_registration::unless_forwarded};
constexpr tokenless_policy automatic{.registration = open_registration::unless_forwarded};
constexpr tokenless_policy everybody{.registration = open_registration::everybody};
constexpr tokenless_policy closed{};

struct caller_case {
    const char* fields = json;
    scope wanted = scope::registration;
    bool takes_json = true;
    bool from_loopback = true;
};

// "dev", "nobody", or why not.
std::string admitted(const tokenless_policy& policy, const caller_case& each)
{
    const auto head = head_with(each.fields);
    const tokenless_request request{head, each.wanted, each.takes_json, each.from_loopback, false};
    const auto who = admit_without_token(request, policy, cors_policy({}));
    if (who)
        return who->kind == principal_kind::dev ? "dev" : "nobody";
    return who.error() == errc::missing_token ? "missing"
           : who.error() == errc::cross_site  ? "cross_site"
                                              : "type";
}

TEST(tokenless, registration_is_open_as_the_policy_says)
{
    EXPECT_EQ(admitted(closed, {}), "missing");
    EXPECT_EQ(admitted(automatic, {}), "nobody");
    EXPECT_EQ(admitted(everybody, {}), "nobody");
    EXPECT_EQ(admitted(under_dev, {}), "dev");
    EXPECT_EQ(admitted(everybody, {.wanted = scope::full}), "missing") << "and only registration";
    EXPECT_EQ(admitted(under_dev, {.wanted = scope::full}), "dev");
    EXPECT_EQ(admitted(under_dev, {.wanted = scope::any_token}), "dev");
    EXPECT_EQ(admitted(under_dev, {.wanted = scope::full, .from_loopback = false}), "missing");
    EXPECT_EQ(admitted(under_dev, {.from_loopback = false}), "nobody");
}

TEST(tokenless, what_was_forwarded_does_not_come_from_here)
{
    for (const auto* field : {"X-Forwarded-For: 192.0.2.1", "x-forwarded-for:", "X-Real-IP: 127.0.0.1",
                              "Forwarded: for=127.0.0.1", "Via: 1.1 proxy"}) {
        const auto fields = std::string(json) + "|" + field;
        EXPECT_EQ(admitted(under_dev, {.fields = fields.c_str(), .wanted = scope::full}), "missing") << field;
        EXPECT_EQ(admitted(under_dev, {.fields = fields.c_str()}), "missing") << field;
        EXPECT_EQ(admitted(automatic, {.fields = fields.c_str()}), "missing") << field;
        EXPECT_EQ(admitted(everybody, {.fields = fields.c_str()}), "nobody") << field;
    }
}

TEST(tokenless, pages_of_other_sites_are_refused_and_json_must_say_so)
{
    for (const auto& policy : {under_dev, automatic, everybody}) {
        EXPECT_EQ(admitted(policy, {.fields = "Content-Type: application/json|Origin: http://evil.example"}),
                  "cross_site");
        EXPECT_EQ(admitted(policy, {.fields = "Content-Type: text/plain|Sec-Fetch-Site: same-site"}),
                  "cross_site");
        for (const auto* type :
             {"", "Content-Type: text/plain", "Content-Type:", "Content-Type: application/jsonx",
              "Content-Type: text/plain; application/json",
              "Content-Type: application/x-www-form-urlencoded"})
            EXPECT_EQ(admitted(policy, {.fields = type}), "type") << type;
        for (const auto* type :
             {"Content-Type: application/json", "Content-Type: Application/JSON",
              "Content-Type: application/json; charset=utf-8", "Content-Type: application/json ;x"})
            EXPECT_NE(admitted(policy, {.fields = type}), "type") << type;
    }
    EXPECT_EQ(admitted(under_dev, {.fields = "", .wanted = scope::full, .takes_json = false}), "dev");
    EXPECT_EQ(admitted(closed, {.fields = "Origin: http://evil.example"}), "missing");
}

}  // namespace
}  // namespace restante
