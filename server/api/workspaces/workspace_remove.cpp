#include "auth/identity_notices.hpp"
#include "core/log.hpp"
#include "http/session/request_context.hpp"
#include "server/api/workspaces/services.hpp"
#include "server/api/workspaces/workspaces.hpp"
#include "storage/workspaces.hpp"

namespace restante {

awaitable<response> handle_workspace_remove(request_context& req, workspaces_services& svc)
{
    const auto confirm = req.query().get("confirm");
    if (!confirm)
        co_return req.fail(confirm.error());
    if (*confirm != "true")
        co_return req.fail(
            refusal(errc::bad_request, "removal cannot be undone: confirm it with ?confirm=true"));

    const auto removed = co_await svc.workspaces.remove(req.workspace_id());
    if (!removed)
        co_return req.fail(removed.error());
    svc.notices.workspace_removed(req.workspace_id());
    log_line(log_level::info, "workspace_removed")
        .field("request_id", req.id())
        .field("workspace_id", req.workspace_id())
        .field("remote", req.remote_text());
    co_return req.json(http::status::ok, std::string(R"({"status":"removed"})"));
}

}  // namespace restante
