#include "client/feed_progress.hpp"
#include "client/uri_rewrite.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

namespace restante::client {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

uuid numbered(unsigned n)
{
    uuid id{};
    id.data[14] = static_cast<std::uint8_t>(n >> 8);
    id.data[15] = static_cast<std::uint8_t>(n);
    return id;
}

feed_row file_row(unsigned n)
{
    feed_row row{.id = numbered(n)};
    row.file = announced_file{.id = numbered(1000 + n), .name = "a", .size = 1};
    return row;
}

feed_row message_row(unsigned n)
{
    return {.id = numbered(n), .message = true};
}

bool never(const uuid&)
{
    return false;
}

std::vector<unsigned> start_all(feed_progress& progress, clock::time_point now = {}, unsigned files = 100)
{
    std::vector<unsigned> started;
    while (const auto next = progress.start_next(now, files > 0)) {
        files -= next->row.file ? 1 : 0;
        started.push_back(next->row.id.data[15]);
    }
    return started;
}

TEST(client_feed, a_page_is_files_messages_and_what_is_passed_over)
{
    const auto rows = parse_page(R"([
      {"id":"0191d5a0-0000-7000-8000-000000000001","activity_type":"a2a_receive","method":"chat_upload_receive",
       "request_body":{"file_id":"0191d5a0-0000-7000-8000-0000000000aa","name":"../etc/pass wd","size":12,
                       "mimeType":"text/plain","sha256":"0000000000000000000000000000000000000000000000000000000000000000"}},
      {"id":"0191d5a0-0000-7000-8000-000000000002","activity_type":"a2a_receive","method":"message/send","request_body":{}},
      {"id":"0191d5a0-0000-7000-8000-000000000003","activity_type":"a2a_receive","method":"notify","request_body":{}},
      {"id":"0191d5a0-0000-7000-8000-000000000004","activity_type":"agent_log","method":"x","request_body":{}}])");
    ASSERT_TRUE(rows);
    ASSERT_EQ(rows->size(), 4u);
    ASSERT_TRUE((*rows)[0].file);
    EXPECT_EQ((*rows)[0].file->name, "pass_wd");
    EXPECT_EQ((*rows)[0].file->size, 12u);
    EXPECT_EQ((*rows)[0].file->sha256.size(), 64u);
    EXPECT_TRUE((*rows)[1].message);
    EXPECT_FALSE((*rows)[2].message);
    EXPECT_FALSE((*rows)[3].message);
}

TEST(client_feed, what_is_no_page_is_worth_another_try)
{
    for (const auto* body : {"", "{}", "[1]", "[{}]", R"([{"id":"x"}])", "[{]"}) {
        const auto rows = parse_page(body);
        ASSERT_FALSE(rows) << body;
        EXPECT_TRUE(rows.error().transient);
    }
}

TEST(client_feed, a_page_that_is_longer_than_any_server_sends_is_none)
{
    const std::string row = R"({"id":"0191d5a0-0000-7000-8000-000000000001"})";
    std::string page = row;
    for (int i = 1; i < 500; ++i)
        page += ',' + row;
    EXPECT_EQ(parse_page('[' + page + ']')->size(), 500u);
    EXPECT_EQ(parse_page('[' + page + ',' + row + ']').error().code, "bad_answer");
}

TEST(client_feed, a_row_that_lies_about_its_file_is_no_file)
{
    for (const auto* file :
         {R"({"file_id":"x","size":1})", R"({"file_id":"0191d5a0-0000-7000-8000-0000000000aa","size":-1})",
          R"({"file_id":"0191d5a0-0000-7000-8000-0000000000aa","size":"1"})", "[]"}) {
        const auto rows =
            parse_page(R"([{"id":"0191d5a0-0000-7000-8000-000000000001","activity_type":"a2a_receive",
            "method":"chat_upload_receive","request_body":)" +
                       std::string(file) + "}]");
        ASSERT_TRUE(rows);
        EXPECT_FALSE((*rows)[0].file) << file;
    }
}

TEST(client_feed, a_digest_may_be_missing_and_not_be_wrong)
{
    const std::string right = R"("sha256":")" + std::string(64, 'a') + '"';
    const std::string upper = R"("sha256":")" + std::string(64, 'A') + '"';
    const auto is_good = [](const std::string& member) {
        const auto rows =
            parse_page(R"([{"id":"0191d5a0-0000-7000-8000-000000000001","activity_type":"a2a_receive",
            "method":"chat_upload_receive","request_body":{"file_id":"0191d5a0-0000-7000-8000-0000000000aa",
            "size":1)" +
                       member + "}}]");
        return rows && (*rows)[0].file && !(*rows)[0].file->bad_digest;
    };
    EXPECT_TRUE(is_good(""));
    EXPECT_TRUE(is_good(R"(,"sha256":null)"));
    EXPECT_TRUE(is_good(',' + right));
    EXPECT_FALSE(is_good(',' + upper));
    for (const auto* wrong : {R"(,"sha256":"")", R"(,"sha256":7)", R"(,"sha256":"abc")"})
        EXPECT_FALSE(is_good(wrong)) << wrong;
}

TEST(client_feed, the_cursor_follows_only_what_is_done_without_a_gap)
{
    feed_progress progress;
    progress.add({file_row(1), file_row(2), file_row(3)}, never);
    const auto now = clock::now();
    const auto one = progress.start_next(now, true);
    const auto two = progress.start_next(now, true);
    progress.finish(*two);
    EXPECT_FALSE(progress.take_cursor());
    progress.finish(*one);
    EXPECT_EQ(progress.take_cursor(), numbered(2));
    EXPECT_FALSE(progress.take_cursor());
    EXPECT_EQ(progress.read_up_to(), numbered(3));
}

TEST(client_feed, a_message_waits_for_the_files_before_it)
{
    feed_progress progress;
    progress.add({file_row(1), message_row(2), file_row(3), message_row(4)}, never);
    const auto now = clock::now();
    const auto one = progress.start_next(now, true);
    const auto three = progress.start_next(now, true);
    EXPECT_EQ(three->row.id, numbered(3));
    EXPECT_FALSE(progress.start_next(now, true));
    progress.finish(*one);
    const auto two = progress.start_next(now, true);
    EXPECT_EQ(two->row.id, numbered(2));
    progress.finish(*two);
    EXPECT_FALSE(progress.start_next(now, true)) << "4 waits for 3";
    progress.finish(*three);
    EXPECT_EQ(progress.start_next(now, true)->row.id, numbered(4));
}

TEST(client_feed, a_row_that_is_tried_again_soon_holds_messages_back_and_a_bad_one_does_not)
{
    feed_progress progress;
    progress.add({file_row(1), message_row(2)}, never);
    const auto now = clock::now();
    const auto one = progress.start_next(now, true);
    progress.postpone(*one, now + 1s, true);
    EXPECT_FALSE(progress.start_next(now, true));
    EXPECT_EQ(progress.next_try(now), now + 1s);
    EXPECT_EQ(progress.next_try(now + 1s), clock::time_point::max()) << "it is due: no time to wait for";
    EXPECT_FALSE(progress.is_settled());
    EXPECT_EQ(progress.start_next(now + 1s, true), one);
    progress.postpone(*one, now + 9s, false);
    EXPECT_EQ(progress.start_next(now, true)->row.id, numbered(2));
}

TEST(client_feed, no_more_files_than_allowed_and_messages_all_the_same)
{
    feed_progress progress;
    progress.add({message_row(1), file_row(2), file_row(3), file_row(4)}, never);
    EXPECT_EQ(start_all(progress, clock::now(), 2), (std::vector<unsigned>{1, 2, 3}));
}

TEST(client_feed, what_waits_is_known_for_the_whole)
{
    feed_progress progress;
    progress.add({message_row(1), file_row(2), file_row(3), file_row(4), file_row(5)}, never);
    EXPECT_EQ(progress.waiting().files, 4u);
    EXPECT_EQ(progress.waiting().bytes, 4u);
    const auto now = clock::now();
    progress.start_next(now, true);
    progress.finish(*progress.start_next(now, true));
    progress.postpone(*progress.start_next(now, true), now + 1s, true);
    progress.postpone(*progress.start_next(now, true), now + 60s, false);
    EXPECT_EQ(progress.waiting().files, 2u) << "not the one that has failed";
}

TEST(client_feed, what_was_delivered_before_is_passed_over_and_moves_the_cursor)
{
    feed_progress progress;
    progress.add({file_row(1), message_row(2), file_row(3)},
                 [](const uuid& id) { return id != numbered(3); });
    EXPECT_EQ(progress.take_cursor(), numbered(2));
    EXPECT_EQ(start_all(progress), (std::vector<unsigned>{3}));
}

TEST(client_feed, beginning_again_starts_nothing_twice)
{
    feed_progress progress;
    progress.add({file_row(1), file_row(2)}, never);
    const auto now = clock::now();
    const auto one = progress.start_next(now, true);
    progress.begin_again();
    EXPECT_FALSE(progress.read_up_to());
    progress.add({file_row(1), file_row(2), file_row(3)}, never);
    EXPECT_EQ(start_all(progress, now), (std::vector<unsigned>{2, 3}));
    progress.finish(*one);
    EXPECT_EQ(progress.take_cursor(), numbered(1));
}

TEST(client_feed, it_is_not_read_on_while_too_much_is_unfinished)
{
    feed_progress progress;
    std::vector<feed_row> rows;
    for (unsigned n = 0; n < feed_progress::window; ++n)
        rows.push_back(file_row(n));
    progress.add(std::move(rows), never);
    EXPECT_FALSE(progress.has_room());
    progress.finish(*progress.start_next(clock::now(), true));
    EXPECT_TRUE(progress.has_room());
}

std::string rewritten(std::string_view text)
{
    auto value = boost::json::parse(text);
    rewrite_uris(value, [](const uuid& file) -> std::optional<std::string> {
        if (file == *parse_uuid("0191d5a0-0000-7000-8000-0000000000aa"))
            return "/in/a b.txt";
        return std::nullopt;
    });
    return boost::json::serialize(value);
}

constexpr const char* ours =
    "platform-pending:0191d5a0-0000-7000-8000-000000000001/0191d5a0-0000-7000-8000-0000000000aa";

TEST(client_uris, both_forms_of_a2a_are_rewritten)
{
    const std::string uri(ours);
    EXPECT_EQ(rewritten(R"([{"kind":"file","file":{"uri":")" + uri + R"(","name":"n"}}])"),
              R"([{"kind":"file","file":{"uri":"workspace:/in/a b.txt","name":"n"}}])");
    EXPECT_EQ(rewritten(R"({"kind":"image","uri":")" + uri + R"("})"),
              R"({"kind":"image","uri":"workspace:/in/a b.txt"})");
    EXPECT_EQ(rewritten(R"({"url":")" + uri + R"(","filename":"n"})"),
              R"({"url":"workspace:/in/a b.txt","filename":"n"})");
}

TEST(client_uris, text_and_unknown_files_stay)
{
    const std::string uri(ours);
    const auto text = R"({"text":")" + uri + R"("})";
    EXPECT_EQ(rewritten(text), text);
    const std::string unknown =
        R"({"uri":"platform-pending:0191d5a0-0000-7000-8000-000000000001/0191d5a0-0000-7000-8000-0000000000ab"})";
    EXPECT_EQ(rewritten(unknown), unknown);
    for (const auto* other : {"https://x/y", "platform-pending:x", "platform-pending:x/y", ""})
        EXPECT_FALSE(pending_file(other)) << other;
}

TEST(client_uris, the_text_of_a_message_is_its_text_parts)
{
    const auto body = boost::json::parse(
        R"({"params":{"message":{"parts":[{"kind":"text","text":"one"},{"kind":"file"},{"text":"two"},7]}}})");
    EXPECT_EQ(text_of_message(body), "one\ntwo");
    for (const auto* odd : {"[]", "{}", R"({"params":[]})", R"({"params":{"message":{"parts":{}}}})"})
        EXPECT_EQ(text_of_message(boost::json::parse(odd)), "");
}

}  // namespace
}  // namespace restante::client
