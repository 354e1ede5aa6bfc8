#include "server/api/route_table.hpp"

#include "http/session/request_context.hpp"
#include "server/api/admin/admin.hpp"
#include "server/api/agents/agents.hpp"
#include "server/api/files/files.hpp"
#include "server/api/grants/grants.hpp"
#include "server/api/inbox/inbox.hpp"
#include "server/api/operations/operations.hpp"
#include "server/api/page/page.hpp"
#include "server/api/push/forward.hpp"
#include "server/api/receipts/receipts.hpp"
#include "server/api/uploads/upload.hpp"
#include "server/api/workspaces/workspaces.hpp"

namespace restante {

namespace {

using enum boost::beast::http::verb;
using enum scope;
using enum body_mode;

// A request that needs no body may still carry a small one (many clients send `{}`); it is read and
// discarded.
constexpr std::uint64_t ignored = 64 * 1024;

constexpr std::uint64_t json_body = 1024 * 1024;

// Binds handlers to the services of their room.
template <class Services>
class bind_to {
public:
    explicit bind_to(Services* with) : with_(with) {}

    request_handler operator()(awaitable<response> (*handler)(request_context&, Services&)) const
    {
        if (!with_)
            return nullptr;
        return [handler, &with = *with_](request_context& req) { return handler(req, with); };
    }

private:
    Services* with_;
};

}  // namespace

// clang-format off
namespace {

void add_page(std::vector<route>& routes, api_services* svc)
{
    const bind_to page(svc ? &svc->page : nullptr);
    const route served[] = {
    {get,      "/",                                   open,         none,     ignored,     page(handle_page)},
    {get,      "/send",                               open,         none,     ignored,     page(handle_page)},
    {get,      "/inbox",                              open,         none,     ignored,     page(handle_page)},
    {get,      "/operator",                           open,         none,     ignored,     page(handle_page)},
    {get,      "/assets/{build}/{folder}/{asset}",    open,         none,     ignored,     page(handle_asset)},
    };
    routes.insert(routes.end(), std::begin(served), std::end(served));
}

}  // namespace

std::vector<route> public_routes(api_services* svc, const body_limits& limits, bool with_page)
{
    const bind_to operations(svc ? &svc->operations : nullptr);
    const bind_to workspaces(svc ? &svc->workspaces : nullptr);
    const bind_to grants(svc ? &svc->grants : nullptr);
    const bind_to uploads(svc ? &svc->uploads : nullptr);
    const bind_to push(svc ? &svc->push : nullptr);
    const bind_to files(svc ? &svc->files : nullptr);
    const bind_to receipts(svc ? &svc->receipts : nullptr);
    const bind_to inbox(svc ? &svc->inbox : nullptr);
    const bind_to agents(svc ? &svc->agents : nullptr);
    const bind_to admins(svc ? &svc->admin : nullptr);
    const std::uint64_t message_body = limits.message;
    const std::uint64_t upload_body = framing_allowance + limits.upload;

    std::vector<route> routes{
    // method  pattern                                scope         body      cap          handler
    {get,      "/healthz",                            open,         none,     ignored,     operations(handle_healthz)},
    {get,      "/health",                             open,         none,     ignored,     operations(handle_healthz)},
    {get,      "/readyz",                             open,         none,     ignored,     operations(handle_readyz)},
    {get,      "/version",                            open,         none,     ignored,     operations(handle_version)},
    {get,      "/openapi.json",                       open,         none,     ignored,     operations(handle_openapi)},

    {post,     "/registry/register",                  registration, buffered, json_body,   workspaces(handle_register)},
    {post,     "/registry/heartbeat",                 heartbeat,    buffered, json_body,   agents(handle_heartbeat)},
    {get,      "/registry/{id}/peers",                full,         none,     ignored,     agents(handle_peers)},
    {get,      "/registry/discover/{id}",             peer,         none,     ignored,     agents(handle_discover)},

    {get,      "/workspaces",                         admin,        none,     ignored,     agents(handle_workspace_list)},
    {post,     "/workspaces",                         admin,        buffered, json_body,   agents(handle_workspace_create)},
    {get,      "/workspaces/{id}",                    profile,      none,     ignored,     agents(handle_workspace_show)},
    {patch,    "/workspaces/{id}",                    full,         buffered, json_body,   agents(handle_workspace_change)},
    {delete_,  "/workspaces/{id}",                    full,         none,     ignored,     workspaces(handle_workspace_remove)},
    {get,      "/workspaces/{id}/state",              read,         none,     ignored,     agents(handle_state)},
    {post,     "/workspaces/{id}/tokens",             full,         buffered, json_body,   workspaces(handle_token_mint)},
    {get,      "/workspaces/{id}/tokens",             full,         none,     ignored,     workspaces(handle_token_list)},
    {delete_,  "/workspaces/{id}/tokens/{token_id}",  full,         none,     ignored,     workspaces(handle_token_revoke)},
    {post,     "/workspaces/{id}/upload-grants",      full,         buffered, json_body,   grants(handle_grant_mint)},
    {get,      "/workspaces/{id}/upload-grants",      full,         none,     ignored,     grants(handle_grant_list)},
    {delete_,  "/workspaces/{id}/upload-grants/{grant_id}", full,   none,     ignored,     grants(handle_grant_revoke)},
    {get,      "/token",                              any_token,    none,     ignored,     grants(handle_token_view)},
    {post,     "/admin/workspaces/{id}/tokens",       admin,        none,     ignored,     workspaces(handle_admin_token_mint)},
    {get,      "/workspaces/{id}/quota",              read,         none,     ignored,     workspaces(handle_quota_read)},
    {put,      "/workspaces/{id}/quota",              admin,        buffered, json_body,   workspaces(handle_quota_change)},

    {get,      "/uploads/limits",                     open,         none,     ignored,     uploads(handle_upload_limits)},
    {post,     "/workspaces/{id}/chat/uploads",       upload,       streamed, upload_body, uploads(handle_upload)},
    {get,      "/workspaces/{id}/chat/download",      full,         none,     ignored,     push(handle_chat_download)},

    {get,      "/workspaces/{id}/uploads/{file_id}",  upload,       none,     ignored,     receipts(handle_receipt)},

    {get,      "/workspaces/{id}/pending-uploads",    read,         none,     ignored,     files(handle_pending_list)},
    {get,      "/workspaces/{id}/pending-uploads/{file_id}/content", read,      none, ignored, files(handle_content)},
    {post,     "/workspaces/{id}/pending-uploads/{file_id}/ack",     full,      streamed, ignored, files(handle_ack)},
    {post,     "/workspaces/{id}/pending-uploads/ack", full,        buffered, json_body,   files(handle_ack_batch)},

    {get,      "/workspaces/{id}/activity",           read,         none,     ignored,     inbox(handle_activity)},
    {post,     "/workspaces/{id}/activity",           full,         buffered, json_body,   inbox(handle_activity_report)},
    {get,      "/workspaces/{id}/activity/ack",       read,         none,     ignored,     inbox(handle_cursor_read)},
    {post,     "/workspaces/{id}/activity/ack",       full,         buffered, json_body,   inbox(handle_cursor_advance)},
    {post,     "/workspaces/{id}/a2a",                message,      buffered, message_body, inbox(handle_a2a)},
    {post,     "/workspaces/{id}/notify",             full,         buffered, json_body,   inbox(handle_notify)},
    {get,      "/workspaces/{id}/chat-history",       read,         none,     ignored,     inbox(handle_chat_history)},

    {get,      "/ws",                                 any_token,    none,     ignored,     inbox(handle_websocket)},
    {get,      "/workspaces/{id}/events/stream",      events,       none,     ignored,     inbox(handle_event_stream)},

    {get,      "/admin/overview",                     admin,        none,     ignored,     admins(handle_admin_overview)},
    {get,      "/admin/workspaces",                   admin,        none,     ignored,     admins(handle_admin_workspaces)},
    {get,      "/admin/series",                       admin,        none,     ignored,     admins(handle_admin_series)},
    };
    if (with_page)
        add_page(routes, svc);
    return routes;
}

std::vector<route> operator_routes(api_services* svc)
{
    const bind_to operations(svc ? &svc->operations : nullptr);
    return {
    {get,      "/metrics",  open,  none,  ignored, operations(handle_metrics)},
    {get,      "/healthz",  open,  none,  ignored, operations(handle_healthz)},
    {get,      "/readyz",   open,  none,  ignored, operations(handle_readyz)},
    };
}
// clang-format on

}  // namespace restante
