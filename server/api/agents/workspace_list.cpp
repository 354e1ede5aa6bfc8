// GET /workspaces and POST /workspaces, for the admin.
#include "auth/token.hpp"
#include "core/log.hpp"
#include "server/api/agents/agents.hpp"
#include "server/api/agents/directory_stream.hpp"
#include "server/api/agents/profile_form.hpp"
#include "server/api/agents/profile_json.hpp"
#include "server/api/agents/services.hpp"
#include "server/api/common/callback_url.hpp"
#include "server/api/common/own_url.hpp"

#include <boost/json/object.hpp>

namespace restante {

namespace {

// The parsed body ends with this.
awaitable<answerable<new_workspace>> read_body(request_context& req)
{
    const auto body = co_await req.json_body();
    if (!body)
        co_return refusal(body.error());
    co_return read_new_workspace(*body);
}

boost::json::object created(const std::string& base, const new_workspace& what, const std::string& name,
                            const std::string& token)
{
    const auto id = to_string(what.id);
    boost::json::object body{{"id", id},
                             {"name", name},
                             {"external", true},
                             {"status", "awaiting_agent"},
                             {"delivery_mode", to_string(what.mode)},
                             {"auth_token", token}};
    if (what.mode == delivery_mode::poll)
        body["connection"] = {{"workspace_id", id},
                              {"platform_url", base},
                              {"auth_token", token},
                              {"registry_endpoint", base + "/registry/register"},
                              {"heartbeat_endpoint", base + "/registry/heartbeat"}};
    return body;
}

}  // namespace

awaitable<response> handle_workspace_list(request_context& req, agents_services& svc)
{
    const directory_query all;
    co_return co_await stream_directory(req, svc.directory, all, append_listed);
}

awaitable<response> handle_workspace_create(request_context& req, agents_services& svc)
{
    auto what = co_await read_body(req);
    if (!what)
        co_return req.fail(what.error());
    if (what->url && co_await check_new_callback(*what->url, svc.callbacks))
        co_return req.fail(errc::callback_url_not_allowed);
    what->id = make_uuid_v4();
    what->inbound_secret = make_secret();
    const auto token = make_token();
    const auto name = co_await svc.directory.create(*what, token.kept);
    if (!name)
        co_return req.fail(name.error());
    log_line(log_level::info, "workspace_created")
        .from(req.origin())
        .field("workspace_id", what->id)
        .field("delivery_mode", to_string(what->mode))
        .field("remote", req.remote_text());
    const auto base = own_url(req, svc.public_url);
    auto answer = req.json(http::status::created, created(base, *what, *name, token.secret));
    answer.head.set(http::field::cache_control, "no-store");
    co_return answer;
}

}  // namespace restante
