// GET /workspaces/{id}: for the workspace itself, the admin, and its peers where there are any. That a
// workspace was removed is told to anybody, because its own tokens are revoked by then.
#include "auth/authenticator.hpp"
#include "http/session/request_context.hpp"
#include "server/api/agents/agents.hpp"
#include "server/api/agents/profile_json.hpp"
#include "server/api/agents/services.hpp"
#include "server/api/common/bearer_access.hpp"
#include "server/api/common/caller.hpp"
#include "server/api/common/removed_workspace.hpp"

namespace restante {

namespace {

// Peers see each other; whoever has a narrower token of one of them is nobody's peer.
bool may_see(const principal& who, const uuid& workspace, peer_policy peers)
{
    if (who.kind == principal_kind::workspace && who.workspace.removed)
        return false;
    const bool is_peer = who.kind == principal_kind::workspace && who.scope == token_scope::full;
    return who.speaks_for(workspace) || (is_peer && peers == peer_policy::open);
}

response refuse_caller(const request_context& req, agents_services& svc)
{
    error_code why = RESTANTE_ERROR(errc::invalid_token);
    if (caller_of(req).kind != principal_kind::nobody)
        why = svc.auth.refuse(req.remote());
    else if (req.header(http::field::authorization).empty())
        why = RESTANTE_ERROR(errc::missing_token);
    svc.access.note_rejection(req, why);
    return req.fail(why);
}

awaitable<result<std::optional<workspace_profile>>> find_for_stranger(const request_context& req,
                                                                      agents_services& svc)
{
    const auto turn = co_await svc.strangers.wait();
    if (!turn)
        co_return turn.error();
    co_return co_await svc.directory.find(req.workspace_id());
}

bool wants_removed(const request_context& req)
{
    const auto asked = req.query().get("include_removed");
    return asked && *asked == "true";
}

}  // namespace

awaitable<response> handle_workspace_show(request_context& req, agents_services& svc)
{
    const auto& who = caller_of(req);
    const bool allowed = may_see(who, req.workspace_id(), svc.peers);
    result<std::optional<workspace_profile>> found = std::optional<workspace_profile>();
    if (allowed)
        found = co_await svc.directory.find(req.workspace_id());
    else
        found = co_await find_for_stranger(req, svc);
    if (!found)
        co_return req.fail(found.error());

    const bool removed = *found && (*found)->removed_at;
    if (removed && !(allowed && wants_removed(req)))
        co_return req.fail(removed_refusal(**found));
    if (!allowed)
        co_return refuse_caller(req, svc);
    if (!*found)
        co_return req.fail(errc::workspace_not_found);
    std::string text;
    append_profile(text, **found);
    co_return req.list(std::move(text));
}

}  // namespace restante
