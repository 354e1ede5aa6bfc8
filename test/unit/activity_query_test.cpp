#include "server/api/inbox/activity_query.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

const uuid workspace = *parse_uuid("6f1c1e6e-9a52-4c5b-8f0b-0d8d6c6f3a01");
constexpr std::string_view row_id = "0190163d-8694-739b-aea5-966c26f8ad91";

auto read(std::string_view query)
{
    return read_activity_query(workspace, parse_request_target("/x?" + std::string(query))->query);
}

std::string sentence_of(std::string_view query)
{
    const auto asked = read(query);
    if (asked)
        return "accepted";
    EXPECT_EQ(asked.error().code, errc::bad_request);
    return asked.error().sentence.value_or("");
}

TEST(activity_query, nothing_asked_is_the_newest_hundred)
{
    const auto asked = read("");
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->feed.workspace, workspace);
    EXPECT_EQ(asked->feed.limit, 100);
    EXPECT_FALSE(asked->feed.since_id || asked->feed.since_seq || asked->feed.type || asked->feed.peer);
    EXPECT_FALSE(asked->feed.since || asked->feed.before);
    EXPECT_EQ(asked->feed.source, activity_source::any);
    EXPECT_FALSE(asked->feed.peer_info);
    EXPECT_EQ(asked->wait.count(), 0);
}

TEST(activity_query, a_limit_is_never_refused)
{
    for (const auto* text :
         {"limit=0", "limit=-1", "limit=abc", "limit=", "limit=1e3", "limit=%2B5", "limit=000"})
        EXPECT_EQ(read(text)->feed.limit, 100) << text;
    EXPECT_EQ(read("limit=1")->feed.limit, 1);
    EXPECT_EQ(read("limit=007")->feed.limit, 7);
    EXPECT_EQ(read("limit=500")->feed.limit, 500);
    EXPECT_EQ(read("limit=501")->feed.limit, 500);
    EXPECT_EQ(read("limit=100000")->feed.limit, 500);
    EXPECT_EQ(read("limit=99999999999999999999999999")->feed.limit, 500);
}

TEST(activity_query, since_secs_is_capped_but_not_guessed)
{
    EXPECT_EQ(read("since_secs=1")->feed.since->count(), 1);
    EXPECT_EQ(read("since_secs=2592000")->feed.since->count(), 2'592'000);
    EXPECT_EQ(read("since_secs=2592001")->feed.since->count(), 2'592'000);
    EXPECT_EQ(read("since_secs=99999999999999999999999")->feed.since->count(), 2'592'000);
    for (const auto* text :
         {"since_secs=0", "since_secs=-5", "since_secs=x", "since_secs=1.5", "since_secs=+1"})
        EXPECT_NE(sentence_of(text).find("since_secs"), std::string::npos) << text;
}

TEST(activity_query, before_ts_is_rfc_3339)
{
    EXPECT_EQ(rfc3339(*read("before_ts=2026-01-02T03:04:05Z")->feed.before), "2026-01-02T03:04:05.000000Z");
    EXPECT_EQ(rfc3339(*read("before_ts=2026-01-02T03:04:05.5%2B01:00")->feed.before),
              "2026-01-02T02:04:05.500000Z");
    for (const auto* text : {"before_ts=yesterday", "before_ts=2026-01-02", "before_ts=1767322245"})
        EXPECT_NE(sentence_of(text).find("before_ts"), std::string::npos) << text;
}

TEST(activity_query, source_type_and_peer)
{
    EXPECT_EQ(read("source=canvas")->feed.source, activity_source::canvas);
    EXPECT_EQ(read("source=agent")->feed.source, activity_source::agent);
    EXPECT_EQ(read("source=")->feed.source, activity_source::any);
    EXPECT_NE(sentence_of("source=x").find("source"), std::string::npos);
    EXPECT_NE(sentence_of("source=Canvas").find("source"), std::string::npos);
    EXPECT_EQ(read("type=a2a_receive")->feed.type, "a2a_receive");
    EXPECT_FALSE(read("type=")->feed.type);
    EXPECT_EQ(read("peer_id=" + std::string(row_id))->feed.peer, parse_uuid(row_id));
    EXPECT_NE(sentence_of("peer_id=x").find("peer_id"), std::string::npos);
}

TEST(activity_query, one_cursor_or_the_other)
{
    EXPECT_EQ(read("since_id=" + std::string(row_id))->feed.since_id, parse_uuid(row_id));
    EXPECT_EQ(read("since_seq=0")->feed.since_seq, 0);
    EXPECT_EQ(read("since_seq=9223372036854775807")->feed.since_seq,
              std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(read("since_seq=99999999999999999999")->feed.since_seq,
              std::numeric_limits<std::int64_t>::max());
    for (const auto* text : {"since_id=x", "since_id=%7B0190163d-8694-739b-aea5-966c26f8ad91%7D"})
        EXPECT_NE(sentence_of(text).find("since_id"), std::string::npos) << text;
    for (const auto* text : {"since_seq=-1", "since_seq=x"})
        EXPECT_NE(sentence_of(text).find("since_seq"), std::string::npos) << text;
    EXPECT_NE(sentence_of("since_seq=1&since_id=" + std::string(row_id)).find("exclude"), std::string::npos);
}

TEST(activity_query, wait_needs_a_cursor_and_has_an_end)
{
    EXPECT_EQ(read("wait=30&since_seq=0")->wait.count(), 30);
    EXPECT_EQ(read("wait=55&since_seq=0")->wait.count(), 55);
    EXPECT_EQ(read("wait=3600&since_seq=0")->wait.count(), 55);
    EXPECT_EQ(read("wait=0&since_seq=0")->wait.count(), 0);
    EXPECT_EQ(read("wait=30")->wait.count(), 0);
    for (const auto* text : {"wait=x", "wait=-1", "wait=1.5&since_seq=0"})
        EXPECT_NE(sentence_of(text).find("wait"), std::string::npos) << text;
}

TEST(activity_query, include_is_a_list_of_which_one_word_is_known)
{
    EXPECT_TRUE(read("include=peer_info")->feed.peer_info);
    for (const auto* text : {"include=foo,peer_info", "include=peer_info,foo", "include=foo,%20peer_info%20,",
                             "include=,peer_info"})
        EXPECT_TRUE(read(text)->feed.peer_info) << text;
    for (const auto* text : {"include=everything", "include=,", "include=peer_info_2", "include=peer%20info"})
        EXPECT_FALSE(read(text)->feed.peer_info) << text;
}

TEST(activity_query, what_is_said_twice_or_in_binary_is_refused_and_what_is_unknown_is_not)
{
    EXPECT_NE(sentence_of("source=agent&source=canvas").find("source"), std::string::npos);
    EXPECT_NE(sentence_of("type=%00").find("type"), std::string::npos);
    EXPECT_EQ(sentence_of("colour=blue&colour=%ff"), "accepted");
}

}  // namespace
}  // namespace restante
