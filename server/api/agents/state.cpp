// GET /workspaces/{id}/state
#include "http/session/request_context.hpp"
#include "server/api/agents/agents.hpp"
#include "server/api/agents/services.hpp"
#include "storage/workspace_directory.hpp"

#include <boost/json/object.hpp>

namespace restante {

awaitable<response> handle_state(request_context& req, agents_services& svc)
{
    const auto found = co_await svc.directory.find(req.workspace_id());
    if (!found)
        co_return req.fail(found.error());
    const bool exists = *found && !(*found)->removed_at;
    boost::json::object state{{"workspace_id", to_string(req.workspace_id())}, {"deleted", !exists}};
    if (*found)
        state["status"] = (*found)->status;
    // Existing agents take every 404 here for the end of their workspace.
    if (!exists)
        co_return req.fail(refusal(errc::workspace_not_found, std::move(state)));
    state["paused"] = false;
    auto answer = req.json(http::status::ok, state);
    answer.head.set(http::field::cache_control, "no-store");
    co_return answer;
}

}  // namespace restante
