// GET /registry/{id}/peers and GET /registry/discover/{id}: there is no hierarchy of workspaces. Peers are
// all others, on a server of one tenant (--peers open), and nobody otherwise.
#include "auth/authenticator.hpp"
#include "http/message/query_reader.hpp"
#include "server/api/agents/agents.hpp"
#include "server/api/agents/directory_stream.hpp"
#include "server/api/agents/profile_json.hpp"
#include "server/api/agents/services.hpp"
#include "server/api/common/bearer_access.hpp"
#include "server/api/common/caller.hpp"

#include <boost/json/object.hpp>

namespace restante {

namespace {

boost::json::object discovered(const workspace_profile& target)
{
    boost::json::object found{{"id", to_string(target.id)},
                              {"name", target.name},
                              {"role", nullptr},
                              {"status", target.status},
                              // A workspace that polls is reached by /a2a, not by a url.
                              {"url", target.mode == "poll" ? std::string() : target.url}};
    if (target.role)
        found["role"] = *target.role;
    return found;
}

}  // namespace

awaitable<response> handle_peers(request_context& req, agents_services& svc)
{
    query_reader query(req.query());
    const auto search = query.text("q");
    if (query.refused())
        co_return req.fail(*query.refused());
    const auto known = co_await svc.auth.workspace_for(caller_of(req), req.workspace_id());
    if (!known)
        co_return req.fail(known.error());
    if (svc.peers == peer_policy::closed)
        co_return req.list("[]");
    directory_query which{.except = req.workspace_id(), .search = std::string(search.value_or(""))};
    co_return co_await stream_directory(req, svc.directory, std::move(which), append_peer);
}

awaitable<response> handle_discover(request_context& req, agents_services& svc)
{
    const auto named = req.header("X-Workspace-ID");
    if (named.empty())
        co_return req.fail(refusal(errc::bad_request, "X-Workspace-ID header is required"));
    const auto asking = parse_uuid(named);
    if (!asking)
        co_return req.fail(errc::invalid_workspace_id);
    const auto& who = caller_of(req);
    if (!who.speaks_for(*asking)) {
        const auto why = svc.auth.refuse(req.remote());
        svc.access.note_rejection(req, why);
        co_return req.fail(why);
    }
    const bool related = *asking == req.workspace_id() || svc.peers == peer_policy::open;
    if (!related && !who.opens_every_workspace())
        co_return req.fail(errc::peer_not_allowed);
    const auto found = co_await svc.directory.find(req.workspace_id());
    if (!found)
        co_return req.fail(found.error());
    if (!*found || (*found)->removed_at)
        co_return req.fail(errc::workspace_not_found);
    auto answer = req.json(http::status::ok, discovered(**found));
    answer.head.set(http::field::cache_control, "no-store");
    co_return answer;
}

}  // namespace restante
