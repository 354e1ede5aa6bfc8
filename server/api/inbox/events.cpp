#include "auth/authenticator.hpp"
#include "core/decimal.hpp"
#include "http/message/origin.hpp"
#include "http/session/request_context.hpp"
#include "http/websocket/websocket_handshake.hpp"
#include "server/api/common/bearer_access.hpp"
#include "server/api/common/caller.hpp"
#include "server/api/inbox/inbox.hpp"
#include "server/api/inbox/services.hpp"
#include "server/events/hub.hpp"
#include "server/events/sse_session.hpp"
#include "server/events/websocket_session.hpp"
#include "storage/activity_feed.hpp"

namespace restante {

namespace {

response refuse_upgrade(const request_context& req, errc why)
{
    auto refused = req.fail(why);
    if (why == errc::upgrade_required) {
        refused.head.set(http::field::upgrade, "websocket");
        refused.head.set(http::field::sec_websocket_version, "13");
    }
    return refused;
}

// An agent says with X-Workspace-ID as whom it listens, which only a token of that workspace may. It hears
// itself and those that it may talk to. --dev needs no token to be believed.
result<std::optional<uuid>> workspace_of_agent(const request_context& req, const inbox_services& svc)
{
    const principal& who = caller_of(req);
    const auto claimed = parse_uuid(req.header("X-Workspace-ID"));
    const bool own = who.kind == principal_kind::workspace && claimed == who.workspace.id;
    if (!claimed || (!own && who.kind != principal_kind::dev))
        return svc.auth.refuse(req.remote());
    if (own && svc.peers == peer_talk::allowed && who.scope == token_scope::full)
        return std::optional<uuid>();
    return claimed;
}

// Whose events: nullopt for all of them. Errors: bad_request, invalid_workspace_id, invalid_token
// (another's), workspace_not_found, and those of the database.
awaitable<result<std::optional<uuid>>> workspace_to_hear(const request_context& req, inbox_services& svc)
{
    const principal& who = caller_of(req);
    std::optional<uuid> wanted;
    const auto named = req.query().get("workspace_id");
    if (!named)
        co_return named.error();
    if (*named) {
        wanted = parse_uuid(**named);
        if (!wanted)
            co_return RESTANTE_ERROR(errc::invalid_workspace_id);
    } else if (!req.header("X-Workspace-ID").empty()) {
        const auto heard = workspace_of_agent(req, svc);
        if (!heard)
            co_return heard.error();
        wanted = *heard;
    } else if (!who.opens_every_workspace()) {
        wanted = who.workspace.id;
    }
    if (!wanted)
        co_return wanted;
    if (!who.speaks_for(*wanted))
        co_return svc.auth.refuse(req.remote());
    const auto known = co_await svc.auth.workspace_for(who, *wanted);
    if (!known)
        co_return known.error();
    co_return wanted;
}

result<std::optional<std::int64_t>> last_event_id(const request_context& req)
{
    const auto text = req.header("Last-Event-ID");
    if (text.empty())
        return std::optional<std::int64_t>();
    const auto seq = parse_signed_decimal(text);
    if (!seq)
        return RESTANTE_ERROR(errc::bad_request);
    return seq;
}

// A number that the feed has not reached is from before the database went back; the client goes on from where
// the feed is now. Error: cursor_gone (rows after it have been removed).
awaitable<result<std::int64_t>> existing_position(uuid workspace, std::int64_t claimed, activity_feed& feed)
{
    const std::span<const uuid> asked(&workspace, 1);
    const auto heads = co_await feed.heads(asked);
    if (!heads)
        co_return heads.error();
    if (heads->empty())
        co_return 0;
    const auto position = std::min(claimed, heads->front().seq);
    const feed_query next{.workspace = workspace, .since_seq = position, .limit = 1};
    const auto page = co_await feed.read(next);
    if (!page)
        co_return page.error();
    co_return position;
}

refusal refusal_of(const error_code& why)
{
    if (why == errc::cursor_gone)
        return {errc::cursor_gone,
                "events after Last-Event-ID have been removed; 0 begins with the oldest "
                "that is kept"};
    return why;
}

}  // namespace

awaitable<response> handle_websocket(request_context& req, inbox_services& svc)
{
    if (const auto why = refuse_handshake(req.head()))
        co_return refuse_upgrade(req, *why);
    // A page of another site could otherwise open a socket in its visitor's name.
    if (!has_welcome_origin(req.head(), req.encrypted(), svc.cors))
        co_return req.fail(errc::forbidden);
    const auto workspace = co_await workspace_to_hear(req, svc);
    if (!workspace) {
        svc.access.note_rejection(req, workspace.error());
        co_return req.fail(workspace.error());
    }
    auto subscribed = co_await svc.events.subscribe(caller_of(req), *workspace);
    if (!subscribed)
        co_return req.fail(subscribed.error());

    const std::shared_ptr<subscriber> listener = std::move(*subscribed);
    const websocket_welcome welcome{std::string(req.id()), read_protocol_offer(req.head()).format};
    response upgraded;
    upgraded.head.result(http::status::switching_protocols);
    upgraded.body = takeover([listener, welcome, &svc](connection& conn, const request_header& head) {
        return run_websocket(conn, head, welcome, listener, svc.events.metrics(), svc.requests);
    });
    co_return upgraded;
}

awaitable<response> handle_event_stream(request_context& req, inbox_services& svc)
{
    const uuid workspace = req.workspace_id();
    const auto known = co_await svc.auth.workspace_for(caller_of(req), workspace);
    if (!known)
        co_return req.fail(known.error());
    const auto claimed = last_event_id(req);
    if (!claimed)
        co_return req.fail(claimed.error());
    response begun;
    begun.head.set(http::field::content_type, "text/event-stream");
    begun.head.set(http::field::cache_control, "no-store");
    // A proxy that buffers would delay events.
    begun.head.set("X-Accel-Buffering", "no");
    // The same head as for GET, which has no length.
    begun.body = stream_body([](connection&) -> awaitable<void> { co_return; });
    if (req.method() == http::verb::head)
        co_return begun;

    event_stream_start start{workspace, *claimed, nullptr};
    if (!caller_of(req).may_learn_of(std::nullopt))
        start.after.reset();  // it never was sent a row, and is not sent the missed ones either
    if (start.after) {
        // Admitted before anything is read: a revocation ends the replay too.
        start.listener = svc.events.admit(caller_of(req), workspace);
        const auto position = co_await existing_position(workspace, **claimed, svc.feed);
        if (!position)
            co_return req.fail(refusal_of(position.error()));
        start.after = *position;
    } else {
        auto subscribed = co_await svc.events.subscribe(caller_of(req), workspace);
        if (!subscribed)
            co_return req.fail(subscribed.error());
        start.listener = std::move(*subscribed);
    }
    begun.body = stream_body([start, &svc](connection& conn) {
        return run_event_stream(conn, start, {svc.events, svc.feed, svc.auth, svc.requests});
    });
    co_return begun;
}

}  // namespace restante
