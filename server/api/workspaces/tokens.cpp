#include "storage/tokens.hpp"

#include "auth/identity_notices.hpp"
#include "auth/token.hpp"
#include "core/log.hpp"
#include "http/session/request_context.hpp"
#include "server/api/common/caller.hpp"
#include "server/api/common/json_values.hpp"
#include "server/api/common/optional_body.hpp"
#include "server/api/workspaces/services.hpp"
#include "server/api/workspaces/token_form.hpp"
#include "server/api/workspaces/token_json.hpp"
#include "server/api/workspaces/workspaces.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace restante {

namespace {

constexpr std::int64_t most_live_tokens = 50;

void log_change(const request_context& req, std::string_view event, const uuid& token)
{
    log_line(log_level::info, event)
        .from(req.origin())
        .field("workspace_id", req.workspace_id())
        .field("token_id", token)
        .field("remote", req.remote_text());
}

}  // namespace

// POST /workspaces/{id}/tokens: the one answer that holds the token.
awaitable<response> handle_token_mint(request_context& req, workspaces_services& svc)
{
    const auto asked = co_await read_optional_body(req, read_token_request);
    if (!asked)
        co_return req.fail(asked.error());
    auto fresh = make_token();
    fresh.kept.scope = asked->scope;
    fresh.kept.name = asked->name;
    fresh.kept.lifetime = asked->lifetime;
    fresh.kept.minted_with = token_id_of(caller_of(req));
    const auto minted = co_await svc.tokens.mint(req.workspace_id(), fresh.kept);
    if (!minted)
        co_return req.fail(minted.error());
    log_change(req, "token_minted", minted->id);
    const boost::json::object body{{"token_id", to_string(minted->id)},
                                   {"auth_token", fresh.secret},
                                   {"prefix", minted->prefix},
                                   {"scope", to_string(minted->scope)},
                                   {"name", value_or_null(minted->name)},
                                   {"created_at", rfc3339(minted->created_at)},
                                   {"expires_at", value_or_null(minted->expires_at)}};
    auto answer = req.json(http::status::created, body);
    answer.head.set(http::field::cache_control, "no-store");
    co_return answer;
}

// POST /admin/workspaces/{id}/tokens: the same in the words of existing clients, and not without end.
awaitable<response> handle_admin_token_mint(request_context& req, workspaces_services& svc)
{
    const auto fresh = make_token();
    const auto minted = co_await svc.tokens.mint(req.workspace_id(), fresh.kept, most_live_tokens);
    if (!minted)
        co_return req.fail(minted.error());
    log_change(req, "token_minted", fresh.kept.id);
    const boost::json::object body{{"auth_token", fresh.secret},
                                   {"workspace_id", to_string(req.workspace_id())},
                                   {"message", "this token is shown once"}};
    auto answer = req.json(http::status::created, body);
    answer.head.set(http::field::cache_control, "no-store");
    co_return answer;
}

// GET /workspaces/{id}/tokens: prefix and times, newest first.
awaitable<response> handle_token_list(request_context& req, workspaces_services& svc)
{
    const auto tokens = co_await svc.tokens.list(req.workspace_id());
    if (!tokens)
        co_return req.fail(tokens.error());
    boost::json::array listed;
    for (const auto& token : *tokens)
        listed.emplace_back(to_json(token));
    co_return req.list(boost::json::serialize(listed));
}

// DELETE /workspaces/{id}/tokens/{token_id}: idempotent.
awaitable<response> handle_token_revoke(request_context& req, workspaces_services& svc)
{
    const auto revoked = co_await svc.tokens.revoke(req.workspace_id(), req.token_id());
    if (!revoked && revoked.error() == errc::not_found)
        co_return req.fail(refusal(errc::not_found, "token not found"));
    if (!revoked)
        co_return req.fail(revoked.error());
    svc.notices.token_revoked(req.token_id());
    log_change(req, "token_revoked", req.token_id());
    co_return req.json(http::status::ok, std::string(R"({"revoked":true})"));
}

}  // namespace restante
