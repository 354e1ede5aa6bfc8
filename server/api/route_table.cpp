#include "server/api/route_table.hpp"

#include "server/api/inbox/events.hpp"
#include "server/api/inbox/inbox.hpp"
#include "server/api/operations/operations.hpp"
#include "server/api/workspaces/register.hpp"
#include "server/api/workspaces/tokens.hpp"
#include "server/api/uploads/upload.hpp"
#include "server/api/workspaces/workspace_remove.hpp"

namespace restante {

namespace {

using enum boost::beast::http::verb;
using enum scope;

// A request that needs no body may still carry a small one (many clients send `{}`); it is read and
// forgotten.
constexpr std::uint64_t ignored_body = 64 * 1024;

constexpr std::uint64_t json_body = 1024 * 1024;

// The handler brings this to what --max-request-bytes says.
constexpr std::uint64_t upload_body = 52'428'800 + framing_allowance;

// clang-format off
constexpr route api[] = {
    // method  pattern                                who           body                  cap           handler
    {get,      "/healthz",                            open,         body_mode::none,      ignored_body, handle_healthz},
    {get,      "/readyz",                             open,         body_mode::none,      ignored_body, handle_readyz},
    {get,      "/version",                            open,         body_mode::none,      ignored_body, handle_version},

    {post,     "/registry/register",                  registration, body_mode::buffered,  json_body,    handle_register},
    {delete_,  "/workspaces/{id}",                    workspace,    body_mode::none,      ignored_body, handle_workspace_remove},
    {post,     "/workspaces/{id}/tokens",             workspace,    body_mode::none,      ignored_body, handle_token_mint},
    {get,      "/workspaces/{id}/tokens",             workspace,    body_mode::none,      ignored_body, handle_token_list},
    {delete_,  "/workspaces/{id}/tokens/{token_id}",  workspace,    body_mode::none,      ignored_body, handle_token_revoke},

    {post,     "/workspaces/{id}/chat/uploads",       workspace,    body_mode::streamed,  upload_body,  handle_upload},

    {get,      "/workspaces/{id}/pending-uploads",    workspace,    body_mode::none,      ignored_body, handle_pending_list},
    {get,      "/workspaces/{id}/pending-uploads/{file_id}/content", workspace, body_mode::none, ignored_body, handle_content},
    {post,     "/workspaces/{id}/pending-uploads/{file_id}/ack",     workspace, body_mode::none, ignored_body, handle_ack},
    {post,     "/workspaces/{id}/pending-uploads/ack", workspace,   body_mode::buffered,  json_body,    handle_ack_batch},

    {get,      "/workspaces/{id}/activity",           workspace,    body_mode::none,      ignored_body, handle_activity},
    {post,     "/workspaces/{id}/activity",           workspace,    body_mode::buffered,  json_body,    handle_activity_report},
    {get,      "/workspaces/{id}/activity/ack",       workspace,    body_mode::none,      ignored_body, handle_cursor_read},
    {post,     "/workspaces/{id}/activity/ack",       workspace,    body_mode::buffered,  json_body,    handle_cursor_advance},
    {post,     "/workspaces/{id}/a2a",                workspace,    body_mode::buffered,  json_body,    handle_a2a},

    {get,      "/ws",                                 any_token,    body_mode::none,      ignored_body, handle_websocket},
    {get,      "/workspaces/{id}/events/stream",      workspace,    body_mode::none,      ignored_body, handle_event_stream},
};

constexpr route operators[] = {
    {get,      "/metrics",  open,  body_mode::none,  ignored_body, handle_metrics},
    {get,      "/healthz",  open,  body_mode::none,  ignored_body, handle_healthz},
};
// clang-format on

}  // namespace

std::span<const route> public_routes()
{
    return api;
}

std::span<const route> metrics_routes()
{
    return operators;
}

}  // namespace restante
