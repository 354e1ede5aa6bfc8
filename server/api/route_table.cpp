#include "server/api/route_table.hpp"

#include "http/session/request_context.hpp"
#include "server/api/files/files.hpp"
#include "server/api/inbox/inbox.hpp"
#include "server/api/operations/operations.hpp"
#include "server/api/push/forward.hpp"
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
    explicit bind_to(Services& with) : with_(with) {}

    request_handler operator()(awaitable<response> (*handler)(request_context&, Services&)) const
    {
        return [handler, &with = with_](request_context& req) { return handler(req, with); };
    }

private:
    Services& with_;
};

}  // namespace

// clang-format off
std::vector<route> public_routes(api_services& svc)
{
    const bind_to operations(svc.operations);
    const bind_to workspaces(svc.workspaces);
    const bind_to uploads(svc.uploads);
    const bind_to push(svc.push);
    const bind_to files(svc.files);
    const bind_to inbox(svc.inbox);
    const std::uint64_t upload_body = svc.uploads.limits.request_bytes + framing_allowance;

    return {
    // method  pattern                                who           body      cap          handler
    {get,      "/healthz",                            open,         none,     ignored,     operations(handle_healthz)},
    {get,      "/readyz",                             open,         none,     ignored,     operations(handle_readyz)},
    {get,      "/version",                            open,         none,     ignored,     operations(handle_version)},

    {post,     "/registry/register",                  registration, buffered, json_body,   workspaces(handle_register)},
    {delete_,  "/workspaces/{id}",                    workspace,    none,     ignored,     workspaces(handle_workspace_remove)},
    {post,     "/workspaces/{id}/tokens",             workspace,    none,     ignored,     workspaces(handle_token_mint)},
    {get,      "/workspaces/{id}/tokens",             workspace,    none,     ignored,     workspaces(handle_token_list)},
    {delete_,  "/workspaces/{id}/tokens/{token_id}",  workspace,    none,     ignored,     workspaces(handle_token_revoke)},

    {post,     "/workspaces/{id}/chat/uploads",       workspace,    streamed, upload_body, uploads(handle_upload)},
    {get,      "/workspaces/{id}/chat/download",      workspace,    none,     ignored,     push(handle_chat_download)},

    {get,      "/workspaces/{id}/pending-uploads",    workspace,    none,     ignored,     files(handle_pending_list)},
    {get,      "/workspaces/{id}/pending-uploads/{file_id}/content", workspace, none, ignored, files(handle_content)},
    {post,     "/workspaces/{id}/pending-uploads/{file_id}/ack",     workspace, none, ignored, files(handle_ack)},
    {post,     "/workspaces/{id}/pending-uploads/ack", workspace,   buffered, json_body,   files(handle_ack_batch)},

    {get,      "/workspaces/{id}/activity",           workspace,    none,     ignored,     inbox(handle_activity)},
    {post,     "/workspaces/{id}/activity",           workspace,    buffered, json_body,   inbox(handle_activity_report)},
    {get,      "/workspaces/{id}/activity/ack",       workspace,    none,     ignored,     inbox(handle_cursor_read)},
    {post,     "/workspaces/{id}/activity/ack",       workspace,    buffered, json_body,   inbox(handle_cursor_advance)},
    {post,     "/workspaces/{id}/a2a",                workspace,    buffered, json_body,   inbox(handle_a2a)},

    {get,      "/ws",                                 any_token,    none,     ignored,     inbox(handle_websocket)},
    {get,      "/workspaces/{id}/events/stream",      workspace,    none,     ignored,     inbox(handle_event_stream)},
    };
}

std::vector<route> operator_routes(api_services& svc)
{
    const bind_to operations(svc.operations);
    return {
    {get,      "/metrics",  open,  none,  ignored, operations(handle_metrics)},
    {get,      "/healthz",  open,  none,  ignored, operations(handle_healthz)},
    {get,      "/readyz",   open,  none,  ignored, operations(handle_readyz)},
    };
}
// clang-format on

}  // namespace restante
