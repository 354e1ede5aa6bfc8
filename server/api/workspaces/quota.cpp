// GET and PUT /workspaces/{id}/quota: how much may wait for a workspace, and how much does.
#include "core/log.hpp"
#include "http/session/request_context.hpp"
#include "server/api/workspaces/quota_form.hpp"
#include "server/api/workspaces/services.hpp"
#include "server/api/workspaces/workspaces.hpp"

namespace restante {

namespace {

awaitable<response> answer_quota(request_context& req, workspaces_services& svc)
{
    const auto now = co_await svc.quotas.read(req.workspace_id());
    if (!now)
        co_return req.fail(now.error());
    auto answer = req.json(http::status::ok, quota_json(*now));
    answer.head.set(http::field::cache_control, "no-store");
    co_return answer;
}

}  // namespace

awaitable<response> handle_quota_read(request_context& req, workspaces_services& svc)
{
    co_return co_await answer_quota(req, svc);
}

awaitable<response> handle_quota_change(request_context& req, workspaces_services& svc)
{
    const auto body = co_await req.json_body();
    if (!body)
        co_return req.fail(body.error());
    const auto asked = read_quota_change(*body);
    if (!asked)
        co_return req.fail(asked.error());
    const auto changed = co_await svc.quotas.change(req.workspace_id(), *asked);
    if (!changed)
        co_return req.fail(changed.error());
    log_line(log_level::info, "quota_changed")
        .from(req.origin())
        .field("workspace_id", req.workspace_id())
        .field("remote", req.remote_text());
    co_return co_await answer_quota(req, svc);
}

}  // namespace restante
