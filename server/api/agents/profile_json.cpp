#include "server/api/agents/profile_json.hpp"

#include "core/json_text.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

namespace restante {

namespace {

void append_number(std::string& out, std::string_view name, double value)
{
    out += name;
    out += boost::json::serialize(boost::json::value(value));
}

// JSON text as it is, or null.
void append_raw(std::string& out, std::string_view name, const std::optional<std::string>& json)
{
    out += name;
    out += json ? std::string_view(*json) : std::string_view("null");
}

void append_members(std::string& out, const workspace_profile& of)
{
    append_member(out, "\"id\":", of.id);
    append_member(out, ",\"name\":", of.name);
    append_member(out, ",\"role\":", of.role);
    out += ",\"tier\":0";
    append_member(out, ",\"status\":", of.status);
    append_member(out, ",\"url\":", of.url);
    append_member(out, ",\"delivery_mode\":", of.mode);
    out += ",\"parent_id\":null,\"kind\":null";
    append_member(out, ",\"active_tasks\":", of.active_tasks);
    out += ",\"max_concurrent_tasks\":0";
    append_number(out, ",\"last_error_rate\":", of.error_rate);
    append_member(out, ",\"last_sample_error\":", of.sample_error);
    append_member(out, ",\"uptime_seconds\":", of.uptime_seconds);
    // Nothing is started from here: every agent runs elsewhere.
    out +=
        ",\"runtime\":\"external\",\"x\":0,\"y\":0,\"collapsed\":false,\"broadcast_enabled\":false,"
        "\"talk_to_user_enabled\":true,\"compute\":null";
    append_raw(out, ",\"agent_card\":", of.agent_card);
    out += ",\"loaded_mcp_tools\":null,\"mcp_surface\":null,\"last_outbound_at\":null";
    append_member(out, ",\"last_heartbeat_at\":", of.last_seen_at);
    out += of.runtime_state == "wedged" ? ",\"wedged\":true" : ",\"wedged\":false";
    append_member(out, ",\"created_at\":", of.created_at);
    if (of.removed_at)
        append_member(out, ",\"removed_at\":", of.removed_at);
}

}  // namespace

void append_profile(std::string& out, const workspace_profile& of)
{
    out += '{';
    append_members(out, of);
    out += '}';
}

void append_listed(std::string& out, const workspace_profile& of)
{
    out += '{';
    append_members(out, of);
    append_member(out, ",\"current_task\":", of.current_task);
    out += ",\"workspace_dir\":null,\"monthly_spend\":0,\"budget_limit\":null}";
}

void append_peer(std::string& out, const workspace_profile& of)
{
    append_member(out, "{\"id\":", of.id);
    append_member(out, ",\"name\":", of.name);
    append_member(out, ",\"role\":", of.role);
    out += ",\"tier\":0";
    append_member(out, ",\"status\":", of.status);
    append_member(out, ",\"url\":", of.mode == "poll" ? std::string() : of.url);
    out += ",\"parent_id\":null";
    append_member(out, ",\"active_tasks\":", of.active_tasks);
    append_raw(out, ",\"agent_card\":", of.agent_card);
    out += '}';
}

}  // namespace restante
