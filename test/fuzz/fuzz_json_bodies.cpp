// The body of a JSON request. For any input, the tree and the text agree about every member, and an accepted
// form fits the limits of the schema.
#include "core/ids.hpp"
#include "http/message/json_members.hpp"
#include "http/message/json_reader.hpp"
#include "server/api/agents/heartbeat_form.hpp"
#include "server/api/agents/profile_form.hpp"
#include "server/api/grants/grant_form.hpp"
#include "server/api/inbox/activity_form.hpp"
#include "server/api/inbox/notify_form.hpp"
#include "server/api/workspaces/registration_form.hpp"
#include "server/api/workspaces/token_form.hpp"
#include "server/messages/a2a_message.hpp"
#include "server/messages/attachments.hpp"
#include "server/messages/chat_message.hpp"
#include "test/fuzz/require.hpp"

#include <algorithm>
#include <cstdint>

namespace {

using namespace restante;
namespace json = boost::json;

// Equal except for fractions: Boost.JSON rounds their last digits depending on the position in the text, and
// turns 0e999 into a NaN. We do not store the parsed numbers.
bool alike(const json::value& a, const json::value& b)
{
    if (a.kind() != b.kind())
        return false;
    if (a.is_array())
        return std::equal(a.get_array().begin(), a.get_array().end(), b.get_array().begin(),
                          b.get_array().end(), alike);
    if (a.is_object())
        return std::equal(
            a.get_object().begin(), a.get_object().end(), b.get_object().begin(), b.get_object().end(),
            [](const auto& x, const auto& y) { return x.key() == y.key() && alike(x.value(), y.value()); });
    return a.is_double() || a == b;
}

// A member that is stored verbatim must be the one that was checked in the tree.
void check_members(std::string_view text, const json::object& tree)
{
    for (const auto& member : tree) {
        const auto written = json_member(text, member.key());
        require(written.has_value());
        const auto read = parse_json(*written);
        require(read.has_value() && alike(*read, member.value()));
    }
    require(!json_member(text, "no such member \x01"));
}

void check_row(const answerable<activity>& row, const uuid& workspace)
{
    if (!row)
        return;
    require(row->workspace_id == workspace);
    for (const auto& body : {row->request_body, row->response_body, row->tool_trace})
        require(!body || parse_json(*body).has_value());
}

// What is stored is valid, and normalising it once more changes nothing.
void check_message(std::string_view text, const uuid& workspace)
{
    for (const bool from_canvas : {false, true}) {
        const auto message = normalise_message(text, {workspace, from_canvas});
        if (!message)
            continue;
        require(check_json(message->body).has_value());
        const auto again = normalise_message(message->body, {workspace, from_canvas});
        require(again && again->body == message->body && again->method == message->method);
        user_message_in(message->body);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const uuid workspace = *parse_uuid("0b6c1f52-7a44-4c3a-9a86-2f9de0f8f001");

    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto body = parse_json(text);
    require(check_json(text).has_value() == body.has_value());
    for (const auto& file : attachments_of(text))
        require(!file.uri.empty());
    if (!body)
        return 0;
    if (const auto* tree = body->if_object())
        check_members(text, *tree);
    check_row(read_activity_report(workspace, text, *body), workspace);
    check_row(read_notice(workspace, text, *body), workspace);
    check_message(text, workspace);
    const auto registered = read_registration(*body);
    if (registered && !registered->mode_is_guess)
        require(check_delivery(*registered).has_value());
    const auto beat = read_heartbeat(text);
    if (beat) {
        const auto& said = beat->beat.report;
        require(said.error_rate >= 0 && said.error_rate <= 1 && said.active_tasks >= 0);
        require(said.current_task.size() <= 512 && said.current_task.find('\0') == std::string::npos);
        require(!beat->agent_card || parse_json(*beat->agent_card).value().is_object());
    }
    read_profile_change(*body, workspace, true);
    read_new_workspace(*body);
    const auto asked = read_grant_request(*body);
    if (asked)
        require(asked->lifetime.count() > 0 && asked->terms.limit.requests > 0 &&
                asked->terms.limit.files > 0 && asked->terms.limit.bytes > 0 &&
                asked->note.value_or("").size() <= 255);
    const auto token = read_token_request(*body);
    require(!token || token->scope != token_scope::grant);
    return 0;
}
