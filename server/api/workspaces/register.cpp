#include "auth/authenticator.hpp"
#include "auth/token.hpp"
#include "core/log.hpp"
#include "http/session/request_context.hpp"
#include "server/api/common/bearer_access.hpp"
#include "server/api/common/callback_url.hpp"
#include "server/api/common/caller.hpp"
#include "server/api/workspaces/registration_form.hpp"
#include "server/api/workspaces/services.hpp"
#include "server/api/workspaces/workspaces.hpp"
#include "storage/workspaces.hpp"

#include <boost/json/object.hpp>

namespace restante {

namespace {

// A token is valid for its own workspace only; that of a removed one is still answered that it was removed.
error_code check_caller(const request_context& req, workspaces_services& svc, const uuid& workspace)
{
    const auto& who = caller_of(req);
    if (who.kind != principal_kind::workspace)
        return {};
    if (who.workspace.id != workspace)
        return svc.auth.refuse(req.remote());
    if (who.workspace.removed)
        return RESTANTE_ERROR(errc::workspace_removed);
    return {};
}

// Names are judged when they are resolved, at each forward.
bool may_be_called(const registration& what, const address_policy& allowed)
{
    return what.mode != delivery_mode::push || check_callback_url(what.url.value_or(""), allowed).has_value();
}

void log_registered(const request_context& req, const registration& what, first_token token)
{
    log_line(log_level::info, "workspace_registered")
        .field("request_id", req.id())
        .field("workspace_id", what.id)
        .field("delivery_mode", to_string(what.mode))
        .field("first_time", token == first_token::stored)
        .field("remote", req.remote_text());
}

response reject(const request_context& req, workspaces_services& svc, const error_code& why)
{
    svc.access.note_rejection(req, why);
    if (why == errc::check_violation)
        return req.fail(refusal(errc::bad_request, "agent_card holds a character that cannot be stored"));
    return req.fail(why);
}

// The parsed body ends with this: it may take many times the memory of its text, and must not be held while
// the database is asked.
awaitable<answerable<registration>> read_body(request_context& req)
{
    const auto body = co_await req.json_body();
    if (!body)
        co_return refusal(body.error());
    co_return read_registration(*body);
}

}  // namespace

awaitable<response> handle_register(request_context& req, workspaces_services& svc)
{
    auto what = co_await read_body(req);
    if (!what)
        co_return req.fail(what.error());
    if (!may_be_called(*what, svc.callbacks))
        co_return req.fail(errc::callback_url_not_allowed);
    if (const auto refused = check_caller(req, svc, what->id))
        co_return reject(req, svc, refused);

    const auto fresh = make_token();
    what->inbound_secret = make_secret();
    const auto proof = caller_of(req).speaks_for(what->id) ? caller::proven : caller::unproven;
    const auto done = co_await svc.workspaces.register_workspace(*what, fresh.kept, proof);
    if (!done)
        co_return reject(req, svc, done.error());
    svc.notices.workspace_changed(what->id);
    log_registered(req, *what, done->token);

    boost::json::object registered{{"status", "registered"},
                                   {"delivery_mode", to_string(what->mode)},
                                   {"platform_inbound_secret", done->inbound_secret}};
    if (done->token == first_token::stored)
        registered["auth_token"] = fresh.secret;
    auto answer = req.json(http::status::ok, registered);
    answer.head.set(http::field::cache_control, "no-store");
    co_return answer;
}

}  // namespace restante
