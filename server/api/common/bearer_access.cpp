#include "server/api/common/bearer_access.hpp"

#include "http/session/request_context.hpp"
#include "http/websocket/websocket_handshake.hpp"

namespace restante {

bearer_access::bearer_access(authenticator& auth, metric_set& metrics, const tokenless_policy& without_token,
                             const cors_policy& allowed_origins)
    : auth_(auth), rejections_(metrics), without_token_(without_token), allowed_origins_(allowed_origins)
{
}

awaitable<result<request_caller>> bearer_access::authorise(const request_context& request)
{
    const auto who = co_await decide(request);
    if (who)
        co_return request_caller::of(*who, who->kind != principal_kind::nobody);
    note_rejection(request, who.error());
    co_return who.error();
}

void bearer_access::note_rejection(const request_context& request, const error_code& why)
{
    rejections_.note(request, why, real_clock().now());
}

// What a browser offers as a WebSocket sub-protocol, because it cannot set Authorization there.
bearer bearer_access::offered_bearer(const request_context& request)
{
    const auto offer = read_protocol_offer(request.head());
    if (!offer.has_token)
        return {};
    return {offer.token.empty() ? bearer_kind::malformed : bearer_kind::token, offer.token};
}

awaitable<result<principal>> bearer_access::decide(const request_context& request)
{
    auto given = parse_bearer(request.header(http::field::authorization));
    if (request.wanted() == scope::any_token && given.kind == bearer_kind::none)
        given = offered_bearer(request);
    if (given.kind == bearer_kind::none) {
        const tokenless_request asked{request.head(), request.wanted(), request.takes_json(),
                                      request.remote().is_loopback(), request.encrypted()};
        co_return admit_without_token(asked, without_token_, allowed_origins_);
    }
    // Which workspace registers stands in the body, which only the handler reads.
    if (request.wanted() == scope::registration)
        co_return co_await auth_.identify(given, request.remote(), authenticator::removed_workspaces::tell);

    auto who = co_await auth_.identify(given, request.remote());
    if (!who || request.wanted() == scope::any_token)
        co_return who;
    const bool opens = request.wanted() == scope::workspace ? who->speaks_for(request.workspace_id())
                                                            : who->opens_every_workspace();
    // A valid token on a route that it does not open is answered, and counted, like an invalid one.
    if (!opens)
        co_return auth_.refuse(request.remote());
    co_return who;
}

}  // namespace restante
