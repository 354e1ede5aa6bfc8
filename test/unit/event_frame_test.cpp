#include "server/events/event_frame.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

feed_entry upload_row()
{
    feed_entry row;
    row.what.id = *parse_uuid("11111111-1111-4111-8111-111111111111");
    row.what.workspace_id = *parse_uuid("22222222-2222-4222-8222-222222222222");
    row.what.activity_type = "a2a_receive";
    row.what.target_id = row.what.workspace_id;
    row.what.method = "chat_upload_receive";
    row.what.summary = "chat_upload_receive: \"a\".txt";
    row.what.request_body = R"({"name":"a.txt"})";
    row.seq = 7;
    row.created_at = timestamp(std::chrono::sys_days(std::chrono::January / 2 / 2026));
    return row;
}

class event_frame : public ::testing::Test {
protected:
    shared_event made_from(const feed_entry& row) { return make_event(view_of(row), memory); }

    metric_set::number shown;
    asio::io_context nowhere;
    event_memory memory{nowhere.get_executor(), shown};
};

TEST_F(event_frame, an_upload)
{
    const auto made = made_from(upload_row());
    EXPECT_EQ(made->seq, 7);
    EXPECT_EQ(made->text,
              R"({"event":"ACTIVITY_LOGGED","workspace_id":"22222222-2222-4222-8222-222222222222",)"
              R"("timestamp":"2026-01-02T00:00:00.000000Z","payload":{"activity_type":"a2a_receive",)"
              R"("method":"chat_upload_receive","summary":"chat_upload_receive: \"a\".txt","status":"ok",)"
              R"("source_id":null,"target_id":"22222222-2222-4222-8222-222222222222","duration_ms":null,)"
              R"("request_body":{"name":"a.txt"},"id":"11111111-1111-4111-8111-111111111111","seq":7}})");
}

TEST_F(event_frame, bodies_are_there_when_the_row_has_them)
{
    auto row = upload_row();
    row.what.request_body.reset();
    row.what.response_body = "[1]";
    row.what.duration_ms = 12;
    const auto text = made_from(row)->text;
    EXPECT_EQ(text.find("request_body"), std::string::npos);
    EXPECT_NE(text.find(R"("duration_ms":12,"response_body":[1],"id")"), std::string::npos);
}

TEST_F(event_frame, says_what_went_wrong_and_which_message_it_was)
{
    auto row = upload_row();
    row.what.error_detail = "out of \"paper\"";
    EXPECT_NE(
        made_from(row)->text.find(R"("duration_ms":null,"error_detail":"out of \"paper\"","request_body")"),
        std::string::npos);

    auto message = upload_row();
    message.what.method = "message/send";
    message.what.request_body = R"({"params":{"message":{"messageId":"m-1","parts":[]}}})";
    for (const bool from_peer : {false, true}) {
        if (from_peer)
            message.what.source_id = make_uuid_v4();
        EXPECT_NE(made_from(message)->text.find(R"("duration_ms":null,"message_id":"m-1","request_body")"),
                  std::string::npos);
    }
    message.what.request_body = R"({"params":{"message":{"parts":[]}}})";
    EXPECT_EQ(made_from(message)->text.find("message_id"), std::string::npos);
    auto upload = upload_row();
    upload.what.request_body = R"({"params":{"message":{"messageId":"m-1"}}})";
    EXPECT_EQ(made_from(upload)->text.find("message_id"), std::string::npos) << "a manifest is no message";
}

TEST_F(event_frame, is_one_line_whatever_the_bodies_hold)
{
    auto row = upload_row();
    row.what.request_body = "{\r\n  \"a\":\n[1,\r2]}";
    row.what.summary = "two\nlines";
    const auto text = made_from(row)->text;
    EXPECT_EQ(text.find_first_of("\r\n"), std::string::npos);
    EXPECT_NE(text.find(R"("request_body":{    "a": [1, 2]})"), std::string::npos);
    EXPECT_NE(text.find(R"(two\nlines)"), std::string::npos);
}

TEST_F(event_frame, counts_as_held_until_the_last_listener_lets_go)
{
    auto row = upload_row();
    row.what.request_body = '"' + std::string(100'000, 'x') + '"';
    auto mine = made_from(row);
    auto yours = mine;
    EXPECT_GE(memory.held(), mine->text.size());
    EXPECT_LE(memory.held(), frame_size(view_of(row)));
    EXPECT_EQ(shown.value, static_cast<double>(memory.held()));
    mine.reset();
    EXPECT_GE(memory.held(), yours->text.size());
    yours.reset();
    EXPECT_EQ(memory.held(), 0u);
    EXPECT_TRUE(memory.has_room_for(event_memory::limit));
    EXPECT_FALSE(memory.has_room_for(event_memory::limit + 1));
}

}  // namespace
}  // namespace restante
