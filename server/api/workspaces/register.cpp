#include "auth/authenticator.hpp"
#include "auth/token.hpp"
#include "core/log.hpp"
#include "http/session/request_context.hpp"
#include "server/api/common/bearer_access.hpp"
#include "server/api/common/callback_url.hpp"
#include "server/api/common/caller.hpp"
#include "server/api/common/removed_workspace.hpp"
#include "server/api/workspaces/registration_form.hpp"
#include "server/api/workspaces/services.hpp"
#include "server/api/workspaces/workspaces.hpp"
#include "server/presence/presence_events.hpp"
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

// Whoever names no mode means the one that is stored, if there is one. Errors: those of
// workspace_store::agent_of(), except that the workspace may be new.
awaitable<error_code> settle_mode(registration_form& what, caller proof, workspace_store& workspaces)
{
    if (!what.mode_is_guess)
        co_return error_code{};
    const auto known = co_await workspaces.agent_of(what.id, proof);
    if (known && known->mode != delivery_mode::none)
        what.mode = known->mode;
    if (!known && known.error() != errc::workspace_not_found)
        co_return known.error();
    co_return error_code{};
}

// Only the urls of workspaces that are called matter.
awaitable<answerable<void>> check_urls(const registration_form& what, const callback_rules& rules)
{
    if (const auto fits = check_delivery(what); !fits)
        co_return fits.error();
    if (what.mode != delivery_mode::push)
        co_return answerable<void>();
    if (co_await check_new_callback(what.url.value_or(""), rules))
        co_return refusal(errc::callback_url_not_allowed);
    if (what.card_url && co_await check_new_callback(*what.card_url, rules))
        co_return refusal(errc::callback_url_not_allowed, "workspace agent_card URL not allowed");
    co_return answerable<void>();
}

void log_registered(const request_context& req, const registration& what, const registered& done)
{
    log_line(log_level::info, "workspace_registered")
        .from(req.origin())
        .field("workspace_id", what.id)
        .field("delivery_mode", to_string(done.mode))
        .field("first_time", done.token == first_token::stored)
        .field("remote", req.remote_text());
}

awaitable<response> reject(const request_context& req, workspaces_services& svc, uuid workspace,
                           error_code why)
{
    svc.access.note_rejection(req, why);
    if (why == errc::check_violation)
        co_return req.fail(refusal(errc::bad_request, "agent_card holds a character that cannot be stored"));
    if (why == errc::workspace_removed)
        co_return req.fail(co_await find_removed_refusal(svc.directory, workspace));
    co_return req.fail(why);
}

// The parsed body ends with this: it may take many times the memory of its text, and must not be held while
// the database is asked.
awaitable<answerable<registration_form>> read_body(request_context& req)
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
    if (const auto refused = check_caller(req, svc, what->id))
        co_return co_await reject(req, svc, what->id, refused);
    const auto proof = proof_of(caller_of(req), what->id);
    if (const auto refused = co_await settle_mode(*what, proof, svc.workspaces))
        co_return co_await reject(req, svc, what->id, refused);
    if (const auto checked = co_await check_urls(*what, svc.callbacks); !checked)
        co_return req.fail(checked.error());

    const auto fresh = make_token();
    what->inbound_secret = make_secret();
    const auto done = co_await svc.workspaces.register_workspace(*what, fresh.kept, proof);
    if (!done)
        co_return co_await reject(req, svc, what->id, done.error());
    svc.notices.workspace_changed(what->id);
    svc.live.on_live_event(online_event(what->id, done->name, to_string(done->mode)));
    if (done->ended_task)
        svc.live.on_live_event(idle_event(what->id));
    log_registered(req, *what, *done);

    boost::json::object registered{{"status", "registered"},
                                   {"delivery_mode", to_string(done->mode)},
                                   {"platform_inbound_secret", done->inbound_secret}};
    if (done->token == first_token::stored)
        registered["auth_token"] = fresh.secret;
    auto answer = req.json(http::status::ok, registered);
    answer.head.set(http::field::cache_control, "no-store");
    co_return answer;
}

}  // namespace restante
