#include "server/api/grants/grants.hpp"

#include "auth/identity_notices.hpp"
#include "auth/token.hpp"
#include "core/log.hpp"
#include "server/api/common/caller.hpp"
#include "server/api/common/optional_body.hpp"
#include "server/api/common/own_url.hpp"
#include "server/api/grants/grant_form.hpp"
#include "server/api/grants/grant_json.hpp"
#include "server/api/grants/services.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

namespace restante {

namespace {

log_line& add_place(log_line& line, const request_context& req, const uuid& grant)
{
    return line.from(req.origin())
        .field("workspace_id", req.workspace_id())
        .field("grant_id", grant)
        .field("remote", req.remote_text());
}

}  // namespace

// POST /workspaces/{id}/upload-grants: the one answer that holds the grant.
awaitable<response> handle_grant_mint(request_context& req, grants_services& svc)
{
    const auto asked = co_await read_optional_body(req, read_grant_request);
    if (!asked)
        co_return req.fail(asked.error());
    auto fresh = make_token();
    fresh.kept.scope = token_scope::grant;
    fresh.kept.name = asked->note;
    fresh.kept.lifetime = asked->lifetime;
    fresh.kept.minted_with = token_id_of(caller_of(req));
    const new_grant grant{.terms = asked->terms};
    const auto minted = co_await svc.tokens.mint_grant(req.workspace_id(), fresh.kept, grant);
    if (!minted)
        co_return req.fail(minted.error());

    svc.minted.add();
    log_line line(log_level::info, "grant_minted");
    add_place(line, req, minted->token.id)
        .field("max_requests", asked->terms.limit.requests)
        .field("max_files", asked->terms.limit.files)
        .field("max_bytes", asked->terms.limit.bytes);
    auto body = to_json(*minted);
    body["grant"] = fresh.secret;
    body["page_url"] = page_url(own_url(req, svc.public_url), fresh.secret);
    auto answer = req.json(http::status::created, body);
    answer.head.set(http::field::cache_control, "no-store");
    co_return answer;
}

// GET /workspaces/{id}/upload-grants: newest first, with what is used and left of each.
awaitable<response> handle_grant_list(request_context& req, grants_services& svc)
{
    const auto grants = co_await svc.tokens.list_grants(req.workspace_id());
    if (!grants)
        co_return req.fail(grants.error());
    boost::json::array listed;
    for (const auto& grant : *grants)
        listed.emplace_back(to_json(grant));
    co_return req.list(boost::json::serialize(listed));
}

// DELETE /workspaces/{id}/upload-grants/{grant_id}: idempotent.
awaitable<response> handle_grant_revoke(request_context& req, grants_services& svc)
{
    const auto revoked = co_await svc.tokens.revoke_grant(req.workspace_id(), req.token_id());
    if (!revoked)
        co_return req.fail(revoked.error());
    svc.notices.token_revoked(req.token_id());
    log_line line(log_level::info, "grant_revoked");
    add_place(line, req, req.token_id());
    co_return req.json(http::status::ok, std::string(R"({"revoked":true})"));
}

}  // namespace restante
