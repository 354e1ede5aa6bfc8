// GET /workspaces/{id}/activity: a page of the feed, now or, with `wait`, as soon as there is one.
#include "auth/authenticator.hpp"
#include "http/session/client_watch.hpp"
#include "server/api/common/caller.hpp"
#include "server/api/inbox/activity_query.hpp"
#include "server/api/inbox/feed_json.hpp"
#include "server/api/inbox/inbox.hpp"
#include "server/api/inbox/services.hpp"
#include "server/events/parked_polls.hpp"

namespace restante {

namespace {

using steady = std::chrono::steady_clock;

refusal refusal_of(const error_code& why, const feed_query& asked)
{
    if (why == errc::cursor_gone && asked.since_seq)
        return {errc::cursor_gone,
                "rows after since_seq have been removed; since_seq=0 begins with the "
                "oldest that is kept"};
    return why;
}

response answer_page(const request_context& req, const feed_page& page, bool with_peer_info)
{
    auto text = feed_json(page, with_peer_info);
    if (!text)
        return req.fail(text.error());
    return req.list(std::move(*text));
}

// Reads until there is a row, the time is over, the client has gone or the server stops. Fails with
// invalid_token as soon as the token is known to be revoked.
awaitable<result<feed_page>> read_or_wait(request_context& req, inbox_services& svc,
                                          const activity_request& asked)
{
    const auto until = steady::now() + asked.wait;
    parked_polls::place place(svc.polls, req.workspace_id(), caller_of(req));
    if (!place.granted())
        co_return RESTANTE_ERROR(errc::no_room);
    bool over = false;
    const auto give_up = [&] {
        over = true;
        place.ring();
    };
    const task_group::stop_callback on_stop(svc.requests, give_up);
    const client_watch watch(req, give_up);
    for (;;) {
        place.look_again();
        auto page = co_await svc.feed.read(asked.feed);
        // When the time is over it has read once more: an empty answer must be true, and while the database
        // is unavailable that is unknown.
        if (!page || !page->empty() || over || steady::now() >= until)
            co_return page;
        place.has_seen(page->reaches());
        co_await place.wait(until);
        if (place.refused())
            co_return RESTANTE_ERROR(errc::invalid_token);
        if (over)
            co_return page;
    }
}

}  // namespace

awaitable<response> handle_activity(request_context& req, inbox_services& svc)
{
    const auto asked = read_activity_query(req.workspace_id(), req.query());
    if (!asked)
        co_return req.fail(asked.error());
    auto known = co_await svc.auth.workspace_for(caller_of(req), req.workspace_id());
    if (!known)
        co_return req.fail(known.error());
    if (asked->wait.count() == 0) {
        auto page = co_await svc.feed.read(asked->feed);
        if (!page)
            co_return req.fail(refusal_of(page.error(), asked->feed));
        co_return answer_page(req, *page, asked->feed.peer_info);
    }
    auto page = co_await read_or_wait(req, svc, *asked);
    if (!page)
        co_return req.fail(refusal_of(page.error(), asked->feed));
    // Asked again after the page was read, however short the wait: the token may have been looked up seconds
    // before it began.
    const auto valid = co_await svc.auth.still_valid(caller_of(req));
    if (!valid)
        co_return req.fail(valid.error());
    co_return answer_page(req, *page, asked->feed.peer_info);
}

}  // namespace restante
