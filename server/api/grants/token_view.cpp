// GET /token: what the caller's own token is good for. The link to the page holds a grant and nothing else,
// so the page asks here which workspace it sends to.
#include "server/api/common/caller.hpp"
#include "server/api/common/json_values.hpp"
#include "server/api/grants/grant_json.hpp"
#include "server/api/grants/grants.hpp"
#include "server/api/grants/services.hpp"

#include <boost/json/object.hpp>

namespace restante {

namespace {

boost::json::object admin_view()
{
    return {{"scope", "admin"},
            {"workspace_id", nullptr},
            {"workspace_name", nullptr},
            {"expires_at", nullptr},
            {"grant", nullptr}};
}

boost::json::object to_json(const token_view& seen)
{
    const auto& token = seen.token.token;
    boost::json::value grant = nullptr;
    if (token.scope == token_scope::grant)
        grant = terms_json(seen.token);
    return {{"scope", to_string(token.scope)},
            {"workspace_id", to_string(seen.workspace)},
            {"workspace_name", seen.workspace_name},
            {"expires_at", value_or_null(token.expires_at)},
            {"grant", std::move(grant)}};
}

}  // namespace

awaitable<response> handle_token_view(request_context& req, grants_services& svc)
{
    const auto& caller = caller_of(req);
    boost::json::object body = admin_view();
    if (caller.kind == principal_kind::workspace) {
        const auto seen = co_await svc.tokens.view(caller.token);
        if (!seen)
            co_return req.fail(seen.error());
        if (!*seen)  // it has ended since it was looked up
            co_return req.fail(errc::invalid_token);
        body = to_json(**seen);
    }
    auto answer = req.json(http::status::ok, body);
    answer.head.set(http::field::cache_control, "no-store");
    co_return answer;
}

}  // namespace restante
