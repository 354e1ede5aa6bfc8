#include "server/api/agents/profile_form.hpp"
#include "server/api/agents/profile_json.hpp"
#include "server/presence/presence_events.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace restante {
namespace {

namespace json = boost::json;

const uuid self = *parse_uuid("6f1d4a8e-2c3b-4d5e-8f90-123456789abc");

std::string refused_change(const std::string& body, bool is_admin = false)
{
    const auto read = read_profile_change(json::parse(body), self, is_admin);
    return read ? "accepted" : std::string(public_error_of(read.error().code).code);
}

TEST(profile_change, name_and_role_may_be_changed_each_alone)
{
    const auto both =
        read_profile_change(json::parse(R"({"name":"n","role":"r","x":1,"collapsed":true})"), self, false);
    EXPECT_EQ((*both).name, "n");
    EXPECT_EQ(both->role, "r");
    const auto none = read_profile_change(json::parse("{}"), self, false);
    EXPECT_FALSE((*none).name || none->role);
    EXPECT_EQ((*read_profile_change(json::parse(R"({"role":null})"), self, false)).role, "");
}

TEST(profile_change, what_is_refused)
{
    EXPECT_EQ(refused_change("[]"), "bad_request");
    EXPECT_EQ(refused_change(R"({"name":""})"), "bad_request");
    EXPECT_EQ(refused_change(R"({"name":null})"), "bad_request");
    EXPECT_EQ(refused_change(R"({"name":5})"), "bad_request");
    EXPECT_EQ(refused_change(R"({"name":"a\nb"})"), "bad_request");
    EXPECT_EQ(refused_change(R"({"role":"a\u0000b"})"), "bad_request");
    EXPECT_EQ(refused_change(R"({"name":")" + std::string(256, 'n') + R"("})"), "bad_request");
}

TEST(profile_change, what_belongs_to_the_platform_is_for_the_admin)
{
    for (const auto* member : {R"("tier":2)", R"("parent_id":null)", R"("runtime":"x")",
                               R"("workspace_dir":"/w")", R"("compute":{})"}) {
        const auto body = std::string(R"({"role":"r",)") + member + '}';
        EXPECT_EQ(refused_change(body), "forbidden") << member;
        EXPECT_EQ(refused_change(body, true), "accepted") << member;
    }
}

TEST(profile_change, a_parent_is_another_workspace_or_none)
{
    EXPECT_EQ(refused_change(R"({"parent_id":"00000000-0000-4000-8000-000000000000"})", true), "accepted");
    EXPECT_EQ(refused_change(R"({"parent_id":""})", true), "bad_request");
    EXPECT_EQ(refused_change(R"({"parent_id":"x"})", true), "bad_request");
    EXPECT_EQ(refused_change(R"({"parent_id":")" + to_string(self) + R"("})", true), "bad_request");
    EXPECT_EQ(refused_change(R"({"name":"n","parent_id":"00000000-0000-4000-8000-000000000000"})", true),
              "bad_request");
    EXPECT_EQ(refused_change(R"({"parent_id":null})", true), "accepted");
    EXPECT_EQ(refused_change(R"({"name":"n","parent_id":null})", true), "bad_request");
}

TEST(new_workspace_form, without_a_url_it_polls)
{
    const auto made = read_new_workspace(
        json::parse(R"({"name":"n","tier":1,"runtime":"external","external":true,"model":"m","url":""})"));
    EXPECT_EQ((*made).name, "n");
    EXPECT_EQ(made->mode, delivery_mode::poll);
    const auto called = read_new_workspace(json::parse(R"({"name":"n","url":"https://a.example"})"));
    EXPECT_EQ((*called).mode, delivery_mode::push);
    EXPECT_EQ(called->url, "https://a.example");
    for (const auto* bad :
         {"{}", R"({"name":""})", R"({"name":null})", R"({"name":7})", R"({"name":"n","url":5})"})
        EXPECT_FALSE(read_new_workspace(json::parse(bad))) << bad;
}

workspace_profile example()
{
    workspace_profile of;
    of.id = self;
    of.name = "a \"name\"";
    of.mode = "poll";
    of.url = "remote://no-inbound";
    of.status = "degraded";
    of.error_rate = 0.75;
    of.sample_error = "e";
    of.active_tasks = 2;
    of.uptime_seconds = 9;
    of.current_task = "t";
    of.runtime_state = "wedged";
    of.agent_card = R"({"skills":[1]})";
    return of;
}

TEST(profile_json, has_every_key_that_existing_clients_look_for)
{
    std::string text;
    append_profile(text, example());
    const auto read = json::parse(text).as_object();
    for (const auto* key : {"id",
                            "name",
                            "role",
                            "tier",
                            "status",
                            "url",
                            "parent_id",
                            "kind",
                            "active_tasks",
                            "max_concurrent_tasks",
                            "last_error_rate",
                            "last_sample_error",
                            "uptime_seconds",
                            "runtime",
                            "x",
                            "y",
                            "collapsed",
                            "broadcast_enabled",
                            "talk_to_user_enabled",
                            "compute",
                            "agent_card",
                            "loaded_mcp_tools",
                            "mcp_surface",
                            "last_outbound_at",
                            "last_heartbeat_at",
                            "wedged",
                            "delivery_mode"})
        EXPECT_TRUE(read.contains(key)) << key;
    EXPECT_FALSE(read.contains("error")) << "some clients take any object with this key for a failure";
    EXPECT_EQ(read.at("name"), "a \"name\"");
    EXPECT_EQ(read.at("role"), nullptr);
    EXPECT_EQ(read.at("last_error_rate"), 0.75);
    EXPECT_EQ(read.at("wedged"), true);
    EXPECT_EQ(read.at("agent_card").at("skills"), json::array{1});
    EXPECT_EQ(read.at("last_heartbeat_at"), nullptr);
}

TEST(profile_json, the_list_of_the_admin_has_more_and_a_peer_sees_less)
{
    std::string listed, peer;
    append_listed(listed, example());
    append_peer(peer, example());
    const auto in_list = json::parse(listed).as_object();
    for (const auto* key :
         {"current_task", "workspace_dir", "monthly_spend", "budget_limit", "last_heartbeat_at"})
        EXPECT_TRUE(in_list.contains(key)) << key;
    EXPECT_EQ(
        json::parse(peer),
        json::parse(R"({"id":"6f1d4a8e-2c3b-4d5e-8f90-123456789abc","name":"a \"name\"","role":null,"tier":0,
                  "status":"degraded","url":"","parent_id":null,"active_tasks":2,"agent_card":{"skills":[1]}})"));
}

std::string events_text(const presence_change& change)
{
    std::string all;
    for (const auto& each : events_of(change))
        all += each->name + each->payload + ' ';
    return all;
}

TEST(presence_events, one_for_a_new_status_and_one_for_a_new_task)
{
    presence_change change{
        .workspace = self, .name = "n", .delivery_mode = "poll", .before = "offline", .after = "online"};
    EXPECT_EQ(events_text(change),
              R"(WORKSPACE_ONLINE{"name":"n","delivery_mode":"poll","recovered_from":"offline"} )");
    change.before = "online";
    EXPECT_EQ(events_text(change), "");
    change.task_changed = true;
    change.current_task = "t";
    change.active_tasks = 1;
    EXPECT_EQ(events_text(change), R"(TASK_UPDATED{"current_task":"t","active_tasks":1} )");
    change.task_changed = false;
    change.after = "degraded";
    change.error_rate = 0.5;
    change.sample_error = "e";
    EXPECT_EQ(events_text(change), R"(WORKSPACE_DEGRADED{"error_rate":5E-1,"sample_error":"e"} )");
    EXPECT_EQ(bare_event(self, "WORKSPACE_OFFLINE")->payload, "{}");
}

}  // namespace
}  // namespace restante
