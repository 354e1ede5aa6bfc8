#include "server/api/agents/heartbeat_form.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

const std::string id = "6f1d4a8e-2c3b-4d5e-8f90-123456789abc";

answerable<heartbeat_form> read(const std::string& members)
{
    return read_heartbeat(R"({"workspace_id":")" + id + '"' + members + '}');
}

TEST(heartbeat_form, an_id_is_enough_under_either_name)
{
    EXPECT_EQ(to_string((*read("")).workspace), id);
    const auto by_id = read_heartbeat(R"({"id":")" + id + R"("})");
    EXPECT_EQ(to_string((*by_id).workspace), id);
    const auto both =
        read_heartbeat(R"({"workspace_id":")" + id + R"(","id":"00000000-0000-4000-8000-000000000000"})");
    EXPECT_EQ(to_string((*both).workspace), id);
    for (const auto* no_name : {"null", R"("")"}) {
        const auto other = read_heartbeat(R"({"id":")" + id + R"(","workspace_id":)" + no_name + "}");
        ASSERT_TRUE(other) << no_name;
        EXPECT_EQ(to_string(other->workspace), id) << no_name;
    }
}

TEST(heartbeat_form, reads_what_agents_report_and_ignores_the_rest)
{
    const auto form = read(R"(,"error_rate":0.25,"sample_error":"e","active_tasks":3,"uptime_seconds":61.9,
        "current_task":"t","runtime_state":"wedged","agent_card":{"name":"n"},"is_busy":true,
        "runtime_metadata":{"a":1},"observed_generation":4)");
    ASSERT_TRUE(form);
    EXPECT_EQ(form->beat.report.error_rate, 0.25);
    EXPECT_EQ(form->beat.report.sample_error, "e");
    EXPECT_EQ(form->beat.report.active_tasks, 3);
    EXPECT_EQ(form->beat.uptime_seconds, 61);
    EXPECT_EQ(form->beat.report.current_task, "t");
    EXPECT_EQ(form->beat.report.runtime_state, "wedged");
    EXPECT_EQ(form->agent_card, R"({"name":"n"})");
}

TEST(heartbeat_form, null_is_absent_and_absent_is_zero)
{
    const auto form = read(R"(,"error_rate":null,"current_task":null,"agent_card":null)");
    ASSERT_TRUE(form);
    EXPECT_EQ(form->beat.report.error_rate, 0);
    EXPECT_EQ(form->beat.report.current_task, "");
    EXPECT_FALSE(form->agent_card);
}

TEST(heartbeat_form, what_agents_say_is_kept_within_what_can_be_stored)
{
    const auto form =
        read(R"(,"error_rate":1e300,"active_tasks":-5,"uptime_seconds":1e300,"current_task":"a\u0000b",
        "sample_error":")" +
             std::string(511, 'x') + R"(é")");
    ASSERT_TRUE(form);
    EXPECT_EQ(form->beat.report.error_rate, 1);
    EXPECT_EQ(form->beat.report.active_tasks, 0);
    EXPECT_EQ(form->beat.uptime_seconds, 1'000'000'000'000);
    EXPECT_EQ(form->beat.report.current_task, "a b");
    EXPECT_EQ(form->beat.report.sample_error, std::string(511, 'x')) << "not cut inside a character";
}

TEST(heartbeat_form, numbers_that_no_double_holds_are_kept_within_what_can_be_stored_too)
{
    const auto form =
        read(R"(,"error_rate":0e999,"active_tasks":-1e-400,"uptime_seconds":18446744073709551616)");
    ASSERT_TRUE(form);
    EXPECT_EQ(form->beat.report.error_rate, 0);
    EXPECT_EQ(form->beat.report.active_tasks, 0);
    EXPECT_EQ(form->beat.uptime_seconds, 1'000'000'000'000);
}

TEST(heartbeat_form, names_and_texts_may_be_escaped)
{
    const auto form = read(R"(,"current\u005ftask":"a\n\u00e9","error_rate" : 0.5 )");
    ASSERT_TRUE(form);
    EXPECT_EQ(form->beat.report.current_task, "a\n\u00e9");
    EXPECT_EQ(form->beat.report.error_rate, 0.5);
    EXPECT_FALSE(read(R"(,"error_rate":0,"error\u005frate":1)")) << "one name twice";
}

TEST(heartbeat_form, refuses_what_is_no_heartbeat)
{
    const auto expect_refused = [](const char* body, errc code) {
        const auto form = read_heartbeat(body);
        ASSERT_FALSE(form) << body;
        EXPECT_EQ(form.error().code, code) << body;
        EXPECT_EQ(form.error().sentence, "invalid request body") << body;
    };
    for (const auto* body : {"[]", "1", "null", "{}", R"({"workspace_id":5})", R"({"workspace_id":""})",
                             R"({"id":null})", R"({"id":5})", R"({"id":""})"})
        expect_refused(body, errc::bad_request);
    for (const auto* body : {"", "{", "nonsense", "{} {}", "[1,]"})
        expect_refused(body, errc::malformed_json);
    for (const auto* member : {R"(,"error_rate":"high")", R"(,"active_tasks":[])", R"(,"current_task":7)",
                               R"(,"runtime_state":{})"})
        EXPECT_FALSE(read(member)) << member;
}

TEST(heartbeat_form, an_id_that_is_no_uuid_is_refused_as_everywhere)
{
    for (const auto* body : {R"({"workspace_id":"x"})", R"({"id":"x"})",
                             R"({"workspace_id":"{6f1d4a8e-2c3b-4d5e-8f90-123456789abc}"})"}) {
        const auto form = read_heartbeat(body);
        ASSERT_FALSE(form) << body;
        EXPECT_EQ(form.error().code, errc::invalid_workspace_id) << body;
    }
    EXPECT_TRUE(read_heartbeat(R"({"id":"6F1D4A8E-2C3B-4D5E-8F90-123456789ABC"})"));
}

}  // namespace
}  // namespace restante
