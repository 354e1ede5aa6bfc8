// What a forward decides without I/O: the way of delivery, the head it sends, the paths of downloads.
#include "http/client/client_request.hpp"
#include "server/api/common/delivery.hpp"
#include "server/api/push/download_path.hpp"

#include <gtest/gtest.h>

namespace restante::test {
namespace {

TEST(push_rules, mode_and_url_decide_the_way)
{
    struct row {
        delivery_mode mode;
        bool has_url;
        bool can_stage;
        std::optional<delivery> way;
        errc refused;
    };
    using enum delivery_mode;
    const row rows[] = {
        {poll, false, true, delivery::stage, {}},
        {poll, true, true, delivery::stage, {}},
        {poll, false, false, std::nullopt, errc::no_callback_url},
        {push, true, true, delivery::forward, {}},
        {push, true, false, delivery::forward, {}},
        {push, false, true, std::nullopt, errc::callback_url_missing},
        {none, true, true, delivery::forward, {}},
        {none, false, true, std::nullopt, errc::no_callback_url},
    };
    for (const auto& each : rows) {
        const auto way =
            decide_delivery({.mode = each.mode, .has_url = each.has_url, .can_stage = each.can_stage});
        EXPECT_EQ(way.has_value(), each.way.has_value());
        if (way && each.way)
            EXPECT_EQ(*way, *each.way);
        if (!way)
            EXPECT_EQ(way.error().code, each.refused);
    }
}

TEST(push_rules, the_head_of_a_request)
{
    client_request what;
    what.to = parse_http_url("http://[::1]:8080")->origin;
    what.method = boost::beast::http::verb::post;
    what.target = "/a";
    what.fields.push_back({"X-One", "1"});
    EXPECT_EQ(make_request_head(what, request_framing::length, 12),
              "POST /a HTTP/1.1\r\nHost: [::1]:8080\r\nX-One: 1\r\nContent-Length: 12\r\n\r\n");
    EXPECT_EQ(make_request_head(what, request_framing::chunks, 0),
              "POST /a HTTP/1.1\r\nHost: [::1]:8080\r\nX-One: 1\r\nTransfer-Encoding: chunked\r\n\r\n");
    what.method = boost::beast::http::verb::get;
    EXPECT_EQ(make_request_head(what, request_framing::no_body, 0),
              "GET /a HTTP/1.1\r\nHost: [::1]:8080\r\nX-One: 1\r\n\r\n");
}

TEST(push_rules, an_interim_answer_is_found_wherever_it_is_cut)
{
    for (const std::string status : {"100", "102", "103", "110", "199"}) {
        const std::string whole = "HTTP/1.1 " + status + " Whatever\r\nX: y\r\n\r\n";
        for (std::size_t cut = 1; cut < whole.size(); ++cut)
            EXPECT_EQ(find_interim(whole.substr(0, cut)).what, interim::incomplete) << cut;
        const auto found = find_interim(whole + "HTTP/1.1 200 OK\r\n\r\n");
        EXPECT_EQ(found.what, interim::complete) << status;
        EXPECT_EQ(found.size, whole.size());
    }
    for (const auto* other :
         {"", "HTTP/1.1 200 OK", "HTTP/1.1 101 X\r\n\r\n", "HTTP/1.0 100", "HTTP/1.1 1x", "garbage"})
        EXPECT_EQ(find_interim(other).what, interim::none) << other;
    EXPECT_EQ(find_interim("HTTP/1.1 100 " + std::string(longest_answer_head, 'x')).what, interim::none);
}

TEST(push_rules, paths_of_downloads)
{
    const auto sentence = [](std::string_view target) {
        const auto path = read_download_path(target);
        return path ? "OK " + *path : path.error().sentence.value_or("");
    };
    const std::string outside = "path must be under /configs, /workspace, /home or /plugins";
    const std::pair<const char*, std::string> rows[] = {
        {"/d", "path query required"},
        {"/d?", "path query required"},
        {"/d?path=", "path query required"},
        {"/d?other=/home/a", "path query required"},
        {"/d?path=/home/a&path=/home/b", "path must be given once"},
        {"/d?path=home/a", "path must be absolute"},
        {"/d?path=/etc/passwd", outside},
        {"/d?path=/", outside},
        {"/d?path=/homes/a", outside},
        {"/d?path=/workspace2", outside},
        {"/d?path=/home/../etc/passwd", "invalid path"},
        {"/d?path=/home/%2e%2e/etc/passwd", "invalid path"},
        {"/d?path=%2Fhome%2F..%2Fetc", "invalid path"},
        {"/d?path=/home/./a", "invalid path"},
        {"/d?path=/home//a", "invalid path"},
        {"/d?path=/home/a/", "invalid path"},
        {"/d?path=/home/..", "invalid path"},
        {"/d?path=/home/a%00b", "invalid path"},
        {"/d?path=/home/a%0d%0ab", "invalid path"},
        {"/d?path=/home", "OK /home"},
        {"/d?path=/workspace/a.txt&x=1", "OK /workspace/a.txt"},
        {"/d?path=%2fconfigs%2fa+b", "OK /configs/a%20b"},
        {"/d?path=/plugins/..a", "OK /plugins/..a"},
        {"/d?path=/home/%C3%A4&y", "OK /home/%C3%A4"},
        {"/d?path=/home/a%26b%3Fc%23d%2525", "OK /home/a%26b%3Fc%23d%2525"},
    };
    for (const auto& [target, expected] : rows)
        EXPECT_EQ(sentence(target), expected) << target;
}

}  // namespace
}  // namespace restante::test
