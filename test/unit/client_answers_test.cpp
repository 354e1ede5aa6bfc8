#include "client/answers.hpp"
#include "client/backoff.hpp"
#include "client/content_head.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace restante::client {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

TEST(client_backoff, it_doubles_with_jitter_up_to_a_limit)
{
    backoff shortest([] { return 0.0; });
    EXPECT_EQ(shortest.next(), 125ms);
    EXPECT_EQ(shortest.next(), 250ms);
    EXPECT_EQ(shortest.next(), 500ms);
    backoff longest([] { return 0.999; });
    EXPECT_GT(longest.next(), 240ms);
    for (int i = 0; i < 40; ++i)
        EXPECT_LE(longest.next(), backoff::longest);
    shortest.reset();
    EXPECT_EQ(shortest.next(), 125ms);
}

TEST(client_backoff, the_server_may_ask_for_more_but_not_for_ever)
{
    backoff pause([] { return 0.0; });
    EXPECT_EQ(pause.next(7s), 7s);
    EXPECT_EQ(pause.next(24h), backoff::longest_asked);
    EXPECT_EQ(pause.next(0s), 500ms);
}

TEST(client_backoff, retry_after_is_seconds)
{
    EXPECT_EQ(parse_retry_after("30"), 30s);
    EXPECT_EQ(parse_retry_after("99999999999999999999"), 86'400s);
    for (const auto* odd : {"", "-1", "1.5", "Wed, 21 Oct 2026 07:28:00 GMT", " 3"})
        EXPECT_FALSE(parse_retry_after(odd)) << odd;
}

struct judged {
    unsigned status;
    const char* body;
    exit_code exit;
    bool transient;
};

TEST(client_answers, each_status_has_its_exit_code)
{
    for (const auto& [status, body, exit, transient] : {
             judged{400, "", exit_code::refused, false},
             judged{401, "", exit_code::unauthorized, false},
             judged{403, R"({"code":"insufficient_scope"})", exit_code::unauthorized, false},
             judged{404, "", exit_code::refused, false},
             judged{408, "", exit_code::refused, true},
             judged{409, R"({"code":"idempotency_key_running"})", exit_code::refused, true},
             judged{409, R"({"code":"digest_mismatch"})", exit_code::refused, false},
             judged{413, "", exit_code::too_large, false},
             judged{422, "", exit_code::refused, false},
             judged{429, "", exit_code::refused, true},
             judged{500, "", exit_code::gave_up, true},
             judged{501, "", exit_code::refused, false},
             judged{502, "<html>", exit_code::gave_up, true},
             judged{503, "", exit_code::gave_up, true},
             judged{507, "", exit_code::too_large, false},
             judged{301, "", exit_code::refused, false},
             judged{302, "", exit_code::refused, true},
         }) {
        const auto why = failure_of({.status = status, .body = body}, "trying");
        EXPECT_EQ(why.exit, exit) << status;
        EXPECT_EQ(why.transient, transient) << status;
        EXPECT_FALSE(why.code.empty());
    }
}

TEST(client_answers, the_servers_words_are_shown_harmless)
{
    const auto why =
        failure_of({.status = 400, .body = R"({"error":"no \u001b[2J\u009b good","code":"bad"})"}, "trying");
    EXPECT_EQ(why.text, "trying: the server answered 400, no ?[2J? good (bad)");
    EXPECT_EQ(why.code, "bad");
    EXPECT_THAT(failure_of({.status = 308, .location = "https://x/"}, "t").text,
                HasSubstr("it is at https://x/"));
}

TEST(client_answers, the_limits_that_the_server_names_are_passed_on)
{
    const auto why =
        failure_of({.status = 507,
                    .body = R"({"error":"too much","code":"quota_exceeded","of":"bytes","used":9,)"
                            R"("limit":10,"list":[1]})"},
                   "sending");
    EXPECT_EQ(why.text,
              "sending: the server answered 507, too much (quota_exceeded: of bytes, used 9, limit 10)");
    EXPECT_EQ(why.status, 507u);
    EXPECT_EQ(why.details.at("limit"), 10);
    EXPECT_EQ(why.details.at("list").as_array().size(), 1u);
    EXPECT_FALSE(why.details.contains("error"));
    const auto foreign = failure_of({.status = 502, .body = R"({"message":"x"})"}, "sending");
    EXPECT_EQ(foreign.text, "sending: the server answered 502");
    EXPECT_TRUE(foreign.details.empty());
    EXPECT_THAT(failure_of({.status = 404, .body = "<html>"}, "reading").text,
                HasSubstr("is --server right?"));
    EXPECT_THAT(
        failure_of({.status = 401, .body = R"({"error":"x","code":"missing_token"})"}, "reading").text,
        HasSubstr("login stores one"));
    EXPECT_THAT(
        failure_of({.status = 404, .body = R"({"error":"x","code":"no_such_route"})"}, "reading").text,
        HasSubstr("--server is not right, or the server is too old"));
}

TEST(client_answers, an_ack_is_what_says_so)
{
    EXPECT_TRUE(says_acked({.status = 200, .body = R"({"acked":true})"}));
    EXPECT_TRUE(says_acked({.status = 200, .body = R"({"acked":true,"raced":true})"}));
    for (const auto* body :
         {"", "<html>", "[]", "{}", R"({"acked":false})", R"({"acked":"true"})", R"({"acked":["x"]})"})
        EXPECT_FALSE(says_acked({.status = 200, .body = body})) << body;
    EXPECT_FALSE(says_acked({.status = 404, .body = R"({"acked":true})"}));
}

const std::string digest(64, 'a');

outcome<std::uint64_t> check(content_head head, std::uint64_t from)
{
    return check_content(head, from, 100, digest);
}

TEST(client_content, the_whole_or_the_rest_is_taken)
{
    EXPECT_EQ(*check({.status = 200, .length = 100}, 0), 0u);
    EXPECT_EQ(*check({.status = 200}, 40), 0u) << "the server begins at the start";
    EXPECT_EQ(*check({.status = 206, .length = 60, .content_range = "bytes 40-99/100"}, 40), 40u);
}

TEST(client_content, lies_are_noticed_before_the_first_byte)
{
    const auto etag = '"' + std::string(64, 'b') + '"';
    EXPECT_EQ(check({.status = 200, .length = 99}, 0).error().code, "wrong_length");
    EXPECT_EQ(check({.status = 206, .length = 60, .content_range = "bytes 41-99/100"}, 40).error().code,
              "wrong_range");
    EXPECT_EQ(check({.status = 206, .content_range = "bytes 40-99/101"}, 40).error().code, "wrong_range");
    EXPECT_EQ(check({.status = 206}, 40).error().code, "wrong_range");
    EXPECT_EQ(check({.status = 206, .content_range = "bytes 0-99/100"}, 0).error().code, "wrong_range");
    EXPECT_EQ(check({.status = 206, .length = 61, .content_range = "bytes 40-99/100"}, 40).error().code,
              "wrong_length");
    EXPECT_EQ(check({.status = 200, .etag = etag}, 0).error().code, "wrong_content");
    EXPECT_EQ(check({.status = 200, .content_encoding = "gzip"}, 0).error().code, "wrong_content");
}

}  // namespace
}  // namespace restante::client
