#include "server/api/common/bearer_access.hpp"

#include "http/session/request_context.hpp"
#include "http/websocket/websocket_handshake.hpp"
#include "server/api/common/access_rules.hpp"

namespace restante {

namespace {

refusal admin_words(refusal why)
{
    if (why.code == errc::missing_token)
        return errc::missing_admin_token;
    if (why.code == errc::invalid_token)
        return errc::invalid_admin_token;
    return why;
}

// Where a workspace that was removed is answered that it was, instead of that its token is wrong.
bool is_told_of_removal(scope wanted)
{
    return wanted == scope::registration || wanted == scope::profile;
}

bool is_stranger(errc why)
{
    return why == errc::missing_token || why == errc::invalid_token;
}

}  // namespace

bearer_access::bearer_access(authenticator& auth, standing_tokens& standing, metric_set& metrics,
                             const tokenless_policy& without_token, const cors_policy& allowed_origins,
                             peer_talk peers)
    : auth_(auth),
      standing_(standing),
      rejections_(metrics),
      without_token_(without_token),
      allowed_origins_(allowed_origins),
      peers_(peers)
{
}

awaitable<answerable<request_caller>> bearer_access::authorise(const request_context& request)
{
    const auto who = co_await decide(request);
    if (who)
        co_return request_caller::of(*who, who->kind != principal_kind::nobody, who->workspace.id);
    if (request.wanted() == scope::profile && is_stranger(who.error().code))
        co_return request_caller::of(principal{}, false);
    note_rejection(request, who.error().code);
    if (request.wanted() == scope::admin)
        co_return admin_words(who.error());
    co_return who.error();
}

void bearer_access::note_rejection(const request_context& request, const error_code& why)
{
    rejections_.note(request, why, real_clock().now());
}

awaitable<answerable<principal>> bearer_access::decide(const request_context& request)
{
    auto who = co_await identify(request);
    if (!who)
        co_return who;
    if (auto refused = check_route(request, *who))
        co_return std::move(*refused);
    co_return who;
}

awaitable<answerable<principal>> bearer_access::identify(const request_context& request)
{
    auto given = parse_bearer(request.header(http::field::authorization));
    // A browser cannot set Authorization on a WebSocket, and offers its token as a sub-protocol.
    protocol_offer offer;
    if (request.wanted() == scope::any_token)
        offer = read_protocol_offer(request.head());
    if (offer.has_token) {
        const bool contradicts = given.kind != bearer_kind::none && given.token != offer.token;
        if (offer.token.empty() || contradicts)
            co_return refuse(request, "invalid WebSocket credential");
        given = {bearer_kind::token, offer.token};
    }
    if (given.kind == bearer_kind::none) {
        const tokenless_request asked{request.head(), request.wanted(), request.takes_json(),
                                      request.remote().is_loopback(), request.encrypted()};
        const auto who = admit_without_token(asked, without_token_, allowed_origins_);
        if (!who)
            co_return refusal(who.error());
        co_return *who;
    }
    if (request.wanted() == scope::heartbeat && given.kind == bearer_kind::token) {
        if (const auto* known = standing_.find(hash_token(given.token), real_clock().now()))
            co_return known->who;
    }
    const auto gone = is_told_of_removal(request.wanted()) ? authenticator::removed_workspaces::tell
                                                           : authenticator::removed_workspaces::refuse;
    const auto who = co_await auth_.identify(given, request.remote(), gone);
    if (!who)
        co_return refusal(who.error());
    co_return *who;
}

// A valid token in the wrong place is answered, and counted, like an invalid one.
std::optional<refusal> bearer_access::check_route(const request_context& request, const principal& who)
{
    if (who.kind == principal_kind::nobody)
        return std::nullopt;  // open registration
    if (request.wanted() == scope::message) {
        const auto claim = check_claimed_workspace(who, request.header("X-Workspace-ID"));
        if (!claim && claim.error() == errc::invalid_token)
            return refuse(request, "caller ID does not match workspace auth token");
        if (!claim)
            return refusal(claim.error());
    }
    switch (decide_access(request.wanted(), who, request.workspace_id(), peers_)) {
        case access::granted: break;
        case access::insufficient_scope:
            // Of a removed workspace, whatever it was for: it is told what became of it.
            if (who.workspace.removed)
                break;
            return refusal(errc::insufficient_scope);
        case access::peer_not_allowed: return refusal(errc::peer_not_allowed);
        case access::wrong_token: return refusal(auth_.refuse(request.remote()));
    }
    return std::nullopt;
}

// Counted as a wrong token, with a sentence that says what is wrong with it.
refusal bearer_access::refuse(const request_context& request, std::string sentence)
{
    const auto counted = auth_.refuse(request.remote());
    return counted == errc::invalid_token ? refusal(errc::invalid_token, std::move(sentence))
                                          : refusal(counted);
}

}  // namespace restante
