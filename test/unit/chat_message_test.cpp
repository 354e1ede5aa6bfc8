#include "server/messages/chat_message.hpp"

#include "http/message/json_reader.hpp"
#include "server/api/inbox/notify_form.hpp"
#include "server/events/chat_event.hpp"
#include "server/events/event_frame.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

const uuid workspace = *parse_uuid("0b6c1f52-7a44-4c3a-9a86-2f9de0f8f001");
const std::string own_file = "platform-pending:" + to_string(workspace) + "/" + to_string(workspace);

answerable<activity> notice(const std::string& body)
{
    return read_notice(workspace, body, parse_json(body).value());
}

TEST(chat_message, words_and_files_of_every_version)
{
    const auto said = [](const char* parts) {
        return user_message_in(R"({"params":{"message":{"messageId":"m","parts":)" + std::string(parts) +
                               "}}}");
    };
    EXPECT_EQ(said("[]"), (chat_message{.id = "m"}));
    EXPECT_EQ(said("null"), (chat_message{.id = "m"}));
    EXPECT_EQ(said(R"([{"kind":"text","text":"a"},{"text":"b\n"},{"kind":"data","text":"c"},{"text":7},7])"),
              (chat_message{.id = "m", .content = "a\nb\n"}));
    EXPECT_EQ(
        said(R"([{"text":"see"},{"url":"u","filename":"n"},{"kind":"file","file":{"uri":"v","size":3}}])"),
        (chat_message{
            .id = "m", .content = "see", .attachments = {{"file", "u", {}, "n"}, {"file", "v", {}, {}, 3}}}));
    for (const auto* body :
         {"{}", "[]", "7", R"({"params":[]})", R"({"params":{"message":{"parts":[]}}})",
          R"({"params":{"message":{"messageId":"","parts":[]}}})",
          R"({"params":{"message":{"messageId":7,"parts":[]}}})", R"({"uri":"u","name":"n"})"})
        EXPECT_EQ(user_message_in(body), std::nullopt) << body;

    EXPECT_EQ(agent_message_in(R"({"result":"hi"})"), (chat_message{.content = "hi"}));
    EXPECT_EQ(agent_message_in(R"({"result":"hi","parts":[{"kind":"file","file":{"uri":"u","name":"n"}}]})"),
              (chat_message{.content = "hi", .attachments = {{"file", "u", {}, "n"}}}));
    EXPECT_EQ(agent_message_in(R"({"result":{"parts":[{"text":"hi"}]}})"), (chat_message{.content = "hi"}));
    for (const auto* body :
         {"{}", R"({"result":""})", R"({"result":7})", R"({"result":null})", R"({"error":"x"})"})
        EXPECT_EQ(agent_message_in(body), std::nullopt) << body;
}

TEST(chat_message, a_notice_is_stored_as_clients_read_it)
{
    const auto row = notice(R"({"message":"h\u0069\u0000","type":"x","attachments":[
        {"uri":")" + own_file +
                            R"(","name":"a.txt","mimeType":"text/plain","size":7,"sha256":"00"},
        {"uri":"https://x/","name":"b","mimeType":"","size":0}]})");
    ASSERT_TRUE(row);
    EXPECT_EQ(row->activity_type, "a2a_receive");
    EXPECT_EQ(row->method, "notify");
    EXPECT_EQ(row->summary, "Agent message: hi");
    EXPECT_FALSE(row->source_id || row->target_id || row->request_body || row->duration_ms ||
                 row->tool_trace);
    EXPECT_EQ(row->response_body, R"({"result":"hi\u0000","parts":[{"kind":"file","file":{"uri":")" +
                                      own_file +
                                      R"(","name":"a.txt","mimeType":"text/plain","size":7}},)"
                                      R"({"kind":"file","file":{"uri":"https://x/","name":"b"}}]})");
    for (const auto* none : {R"({"message":"m"})", R"({"message":"m","attachments":null})",
                             R"({"message":"m","attachments":[]})"})
        EXPECT_EQ(notice(none)->response_body, R"({"result":"m"})") << none;

    std::string long_one;
    for (int i = 0; i < 81; ++i)
        long_one += "ä";
    const auto cut = notice(R"({"message":")" + long_one + "\"}");
    EXPECT_EQ(cut->summary, "Agent message: " + long_one.substr(2) + "…");
    EXPECT_EQ(notice(R"({"message":")" + long_one.substr(2) + "\"}")->summary,
              "Agent message: " + long_one.substr(2));
}

TEST(chat_message, a_notice_is_refused_as_a_whole)
{
    const auto sentence = [](const std::string& body) { return notice(body).error().sentence.value_or(""); };
    for (const auto* body :
         {"{}", "[]", "7", R"({"message":""})", R"({"message":7})", R"({"message":null})", R"({"type":"x"})"})
        EXPECT_EQ(sentence(body), "message is required") << body;
    const auto with = [](const std::string& file) {
        return R"({"message":"m","attachments":[{"uri":"u","name":"n"},)" + file + "]}";
    };
    for (const auto* file : {"{}", "7", "null", R"({"uri":"u"})", R"({"name":"n"})",
                             R"({"uri":"","name":"n"})", R"({"uri":"u","name":7})"})
        EXPECT_EQ(sentence(with(file)), "attachment[1]: uri and name are required") << file;
    EXPECT_NE(sentence(R"({"message":"m","attachments":{}})"), "");

    const auto id = to_string(workspace);
    const auto other = to_string(make_uuid_v4());
    for (const auto& uri :
         {"platform-pending:" + other + "/" + id, "Platform-Pending:" + other + "/" + id,
          std::string("platform-pending:"), "platform-pending:" + id, "platform-pending:" + id + "/",
          "platform-pending:" + id + "/../" + other, "platform-pending:" + id + "/" + id + "?x"})
        EXPECT_NE(sentence(with(R"({"name":"n","uri":")" + uri + "\"}")).find("of this workspace"),
                  std::string::npos)
            << uri;
}

// The canvas fetches it with the admin token, as it does what has the scheme of its own.
TEST(chat_message, a_notice_shows_no_file_of_another_workspace_by_its_path_either)
{
    const auto id = to_string(workspace);
    const auto other = to_string(make_uuid_v4());
    const auto with = [](const std::string& uri) {
        return notice(R"({"message":"m","attachments":[{"name":"n","uri":")" + uri + R"("}]})");
    };
    for (const auto* end : {"/content", "/content?x=/", "/content#y", "", "?x"})
        EXPECT_EQ(with("/workspaces/" + other + "/content/" + id + end).error().sentence,
                  "attachment[0]: a platform-pending: uri must name a file of this workspace")
            << end;
    for (const auto& uri : {"/workspaces/" + id + "/content/" + id + "/content", "/workspaces/" + other,
                            "/workspaces/" + other + "?a=/content/", std::string("/workspace/report.pdf")})
        EXPECT_TRUE(with(uri)) << uri;
}

feed_row row_from_canvas()
{
    return {
        .id = workspace, .workspace_id = workspace, .activity_type = "a2a_receive", .status = "ok", .seq = 7};
}

TEST(chat_message, events_follow_from_rows)
{
    auto row = row_from_canvas();
    row.method = "notify";
    row.response_body =
        R"({"result":"a\nb","parts":[{"kind":"file","file":{"uri":"u","name":"n","size":3}}]})";
    const auto event = parse_json(make_chat_event(row)).value();
    EXPECT_EQ(event.at("event"), "AGENT_MESSAGE");
    EXPECT_EQ(event.at("payload").at("message"), "a\nb");
    EXPECT_EQ(event.at("payload").at("message_id"), boost::json::string(to_string(workspace)));
    EXPECT_EQ(event.at("payload").at("attachments"),
              parse_json(R"([{"uri":"u","name":"n","size":3}])").value());
    EXPECT_EQ(make_chat_event(row).find('\n'), std::string::npos);

    auto user = row_from_canvas();
    user.method = "message/send";
    user.request_body = R"({"params":{"message":{"messageId":"m1","parts":[{"text":"hello"}]}}})";
    const auto said = parse_json(make_chat_event(user)).value();
    EXPECT_EQ(said.at("event"), "USER_MESSAGE");
    EXPECT_EQ(said.at("payload"), parse_json(R"({"workspace_id":")" + to_string(workspace) +
                                             R"(","message_id":"m1","role":"user","content":"hello"})")
                                      .value());
}

// What a workspace reports of itself has itself as the source, whatever else it says.
TEST(chat_message, no_event_can_be_forged)
{
    for (const auto* type : {"agent_log", "a2a_receive"}) {
        auto row = row_from_canvas();
        row.activity_type = type;
        row.source_id = workspace;
        row.method = "notify";
        row.response_body = R"({"result":"forged"})";
        row.request_body = R"({"params":{"message":{"messageId":"m","parts":[{"text":"forged"}]}}})";
        EXPECT_EQ(make_chat_event(row), "");
    }
    auto upload = row_from_canvas();
    upload.method = "chat_upload_receive";
    upload.request_body = R"({"uri":"u","name":"n","params":{"message":{"messageId":"m","parts":[]}}})";
    EXPECT_EQ(make_chat_event(upload), "");
}

TEST(chat_message, a_frame_leaves_out_bodies_that_are_too_large)
{
    feed_entry entry;
    entry.what.activity_type = "a2a_receive";
    entry.what.method = "message/send";
    entry.what.request_body = R"({"params":{"message":{"messageId":"m","parts":[{"text":")" +
                              std::string(largest_in_frame, 'x') + R"("}]}}})";
    std::string frame;
    append_frame(frame, view_of(entry));
    EXPECT_LT(frame.size(), 1024u);
    const auto payload = parse_json(frame).value().at("payload");
    EXPECT_EQ(payload.at("bodies_omitted"), true);
    EXPECT_FALSE(payload.as_object().contains("request_body"));
    EXPECT_EQ(make_chat_event(view_of(entry)), "");

    entry.what.request_body->erase(60, 200);
    EXPECT_FALSE(view_of(entry).bodies_left_out);
}

}  // namespace
}  // namespace restante
