// POST /registry/heartbeat. In the common case nothing is asked of the database: the token is remembered, and
// the sign of life is noted and written later, with others.
#include "auth/authenticator.hpp"
#include "auth/standing_tokens.hpp"
#include "core/json_text.hpp"
#include "http/session/request_context.hpp"
#include "server/api/agents/agents.hpp"
#include "server/api/agents/heartbeat_form.hpp"
#include "server/api/agents/services.hpp"
#include "server/api/common/bearer_access.hpp"
#include "server/api/common/caller.hpp"
#include "storage/workspace_directory.hpp"

namespace restante {

namespace {

// The tokens of a workspace end with it, and existing agents know what a 401 means.
error_code removed_for(const principal& who)
{
    if (who.kind == principal_kind::workspace)
        return RESTANTE_ERROR(errc::invalid_token);
    return RESTANTE_ERROR(errc::workspace_not_found);
}

// Asks the database for what the answer needs, and remembers it for the beats that follow. Errors:
// workspace_not_found (unknown or removed), missing_token, and invalid_token when the token has ended
// meanwhile.
awaitable<result<std::string>> meet_agent(const principal& who, const heartbeat_form& form,
                                          agents_services& svc)
{
    const auto asked_at = svc.standing.current_epoch();
    const auto asked_when = real_clock().now();
    const auto proof = proof_of(who, form.workspace);
    auto agent = co_await svc.workspaces.agent_of(form.workspace, proof);
    if (!agent && agent.error() == errc::workspace_removed)
        co_return removed_for(who);
    if (!agent)
        co_return agent.error();
    if (!agent->inbound_secret) {
        auto fresh = make_secret();
        auto set = co_await svc.workspaces.set_inbound_secret(form.workspace, std::move(fresh),
                                                              inbound_secret::keep);
        if (!set)
            co_return set.error();
        agent->inbound_secret = std::move(*set);
        svc.notices.workspace_changed(form.workspace);
    }
    if (form.agent_card && !agent->has_card) {
        const auto filled = co_await svc.directory.fill_card(form.workspace, *form.agent_card);
        // One that the database cannot hold would be refused with every beat.
        agent->has_card = filled || filled.error() == errc::check_violation;
    }
    if (who.kind == principal_kind::workspace) {
        // The caller may have been identified long before, and for the last time: what is kept is renewed by
        // itself.
        const auto valid = co_await svc.auth.still_valid(who);
        if (!valid)
            co_return valid.error();
        svc.standing.keep({who, *agent->inbound_secret, agent->has_card}, asked_at, asked_when);
    }
    co_return *agent->inbound_secret;
}

// nullptr when the database has to be asked; valid until something is awaited.
const standing_tokens::holder* find_known(const principal& who, const heartbeat_form& form,
                                          agents_services& svc)
{
    if (who.kind != principal_kind::workspace)
        return nullptr;
    const auto* known = svc.standing.find(who.token_hash, real_clock().now());
    return known && (known->has_card || !form.agent_card) ? known : nullptr;
}

response alive(const request_context& req, const heartbeat_form& form, std::string_view inbound_secret,
               agents_services& svc)
{
    svc.presence.note(form.workspace, real_clock().now(), &form.beat);
    std::string text = R"({"status":"ok","generation":0,"platform_inbound_secret":)";
    append_json(text, inbound_secret);
    text += '}';
    auto answer = req.json(http::status::ok, std::move(text));
    answer.head.set(http::field::cache_control, "no-store");
    return answer;
}

}  // namespace

awaitable<response> handle_heartbeat(request_context& req, agents_services& svc)
{
    const auto body = co_await req.text_body();
    if (!body)
        co_return req.fail(body.error());
    const auto form = read_heartbeat(*body);
    if (!form)
        co_return req.fail(form.error());
    const auto& who = caller_of(req);
    if (who.kind == principal_kind::workspace && who.workspace.id != form->workspace) {
        const auto why = svc.auth.refuse(req.remote());
        svc.access.note_rejection(req, why);
        co_return req.fail(why);
    }
    if (const auto* known = find_known(who, *form, svc))
        co_return alive(req, *form, known->inbound_secret, svc);
    const auto secret = co_await meet_agent(who, *form, svc);
    if (!secret) {
        svc.access.note_rejection(req, secret.error());
        co_return req.fail(secret.error());
    }
    co_return alive(req, *form, *secret, svc);
}

}  // namespace restante
