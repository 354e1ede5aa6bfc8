#include "server/api/inbox/activity_form.hpp"

#include "http/message/json_members.hpp"
#include "http/message/json_reader.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

const uuid workspace = *parse_uuid("6f1c1e6e-9a52-4c5b-8f0b-0d8d6c6f3a01");
const std::string own_id = to_string(workspace);

answerable<activity> report(const std::string& text)
{
    return read_activity_report(workspace, text, parse_json(text).value());
}

std::string sentence(const std::string& text)
{
    const auto read = report(text);
    return read ? "accepted" : read.error().sentence.value_or("");
}

TEST(json_members, are_found_as_they_were_written)
{
    const std::string_view object =
        R"( { "a" : 1.50 , "b":[1,{"a":2}] ,"c":{"x":"}\""},"d\u0065":null,"e":"\\","f":-1e400})";
    EXPECT_EQ(json_member(object, "a"), "1.50");
    EXPECT_EQ(json_member(object, "b"), R"([1,{"a":2}])");
    EXPECT_EQ(json_member(object, "c"), R"({"x":"}\""})");
    EXPECT_EQ(json_member(object, "de"), "null");
    EXPECT_EQ(json_member(object, "e"), R"("\\")");
    EXPECT_EQ(json_member(object, "f"), "-1e400");
    EXPECT_FALSE(json_member(object, "x"));
    EXPECT_FALSE(json_member("{}", "a"));
    EXPECT_FALSE(json_member(" { } ", "a"));
}

TEST(activity_form, a_report_with_everything)
{
    const auto row = report(R"({"activity_type":"task_update","method":"m","summary":"s","status":"error",
        "target_id":")" + own_id +
                            R"(","source_id":")" + own_id + R"(","error_detail":"d","duration_ms":7,
        "request_body":{"n": 1.0},"response_body":[ ],"metadata":{"tool":1}})");
    ASSERT_TRUE(row);
    EXPECT_EQ(row->workspace_id, workspace);
    EXPECT_EQ(row->activity_type, "task_update");
    EXPECT_EQ(row->method, "m");
    EXPECT_EQ(row->summary, "s");
    EXPECT_EQ(row->status, "error");
    EXPECT_EQ(row->source_id, workspace);
    EXPECT_EQ(row->target_id, workspace);
    EXPECT_EQ(row->error_detail, "d");
    EXPECT_EQ(row->duration_ms, 7);
    EXPECT_EQ(row->request_body, R"({"n": 1.0})");
    EXPECT_EQ(row->response_body, "[ ]");
    EXPECT_EQ(row->tool_trace, R"({"tool":1})");
}

TEST(activity_form, what_is_absent_null_or_empty_is_absent)
{
    const auto row = report(
        R"({"activity_type":"error","method":"","summary":null,"request_body":null,"metadata":{"a":1}})");
    ASSERT_TRUE(row);
    EXPECT_FALSE(row->method || row->summary || row->request_body || row->tool_trace);
    EXPECT_EQ(row->source_id, workspace) << "NULL would count as the canvas";
    EXPECT_EQ(row->response_body, R"({"a":1})") << "older clients report metadata instead";
    EXPECT_EQ(row->status, "ok");
}

TEST(activity_form, refusals_name_the_field)
{
    EXPECT_NE(sentence("[]").find("object"), std::string::npos);
    for (const auto* type :
         {"a2a_send", "a2a_receive", "task_update", "agent_log", "skill_promotion", "memory_write", "error"})
        EXPECT_NE(sentence(R"({"activity_type":"x"})").find(type), std::string::npos) << type;
    for (const auto* member :
         {R"("summary":7)", R"("method":[])", R"("target_id":"x")", R"("duration_ms":-1)",
          R"("duration_ms":"7")", R"("duration_ms":1.5)", R"("status":{})", R"("error_detail":"\u0000")"}) {
        const std::string text = std::string(R"({"activity_type":"error",)") + member + '}';
        const std::string name(member + 1, std::string_view(member).find('"', 1) - 1);
        EXPECT_NE(sentence(text).find(name), std::string::npos) << sentence(text);
    }
}

TEST(activity_form, nobody_reports_for_another)
{
    const auto read =
        report(R"({"activity_type":"error","source_id":"00000000-0000-0000-0000-000000000001"})");
    EXPECT_EQ(read.error().code, errc::forbidden);
}

}  // namespace
}  // namespace restante
