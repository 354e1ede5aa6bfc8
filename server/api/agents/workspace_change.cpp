// PATCH /workspaces/{id}
#include "auth/identity_notices.hpp"
#include "http/session/request_context.hpp"
#include "server/api/agents/agents.hpp"
#include "server/api/agents/profile_form.hpp"
#include "server/api/agents/services.hpp"
#include "server/api/common/caller.hpp"

namespace restante {

namespace {

// The parsed body ends with this.
awaitable<answerable<profile_change>> read_body(request_context& req)
{
    const auto body = co_await req.json_body();
    if (!body)
        co_return refusal(body.error());
    co_return read_profile_change(*body, req.workspace_id(), caller_of(req).opens_every_workspace());
}

}  // namespace

awaitable<response> handle_workspace_change(request_context& req, agents_services& svc)
{
    const auto what = co_await read_body(req);
    if (!what)
        co_return req.fail(what.error());
    const auto changed = co_await svc.directory.change(req.workspace_id(), *what);
    if (!changed)
        co_return req.fail(changed.error());
    svc.notices.workspace_changed(req.workspace_id());
    co_return req.json(http::status::ok, std::string(R"({"status":"updated"})"));
}

}  // namespace restante
