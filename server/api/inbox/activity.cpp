// GET /workspaces/{id}/activity: a page of the feed, now or, with `wait`, as soon as there is one.
#include "auth/authenticator.hpp"
#include "server/api/common/caller.hpp"
#include "server/api/common/own_url.hpp"
#include "server/api/inbox/activity_query.hpp"
#include "server/api/inbox/feed_json.hpp"
#include "server/api/inbox/inbox.hpp"
#include "server/api/inbox/services.hpp"
#include "server/events/parked_polls.hpp"
#include "server/events/parked_read.hpp"
#include "server/presence/presence_notes.hpp"

namespace restante {

namespace {

refusal refusal_of(const error_code& why, const feed_query& asked)
{
    if (why == errc::cursor_gone && asked.since_seq)
        return {
            errc::cursor_gone,
            "rows after since_seq have been removed, or the feed has not come that far; since_seq=0 begins "
            "with the oldest that is kept"};
    return why;
}

response answer_page(const request_context& req, const inbox_services& svc, const feed_page& page,
                     bool with_peer_info)
{
    const peer_info_at here{own_url(req, svc.public_url)};
    auto text = feed_json(page, with_peer_info ? &here : nullptr);
    if (!text)
        return req.fail(text.error());
    return req.list(std::move(*text));
}

class page_read final : public parked_read {
public:
    page_read(activity_feed& feed, const feed_query& asked) : feed_(feed), asked_(asked) {}

    awaitable<error_code> read() override
    {
        auto page = co_await feed_.read(asked_);
        if (!page)
            co_return page.error();
        page_.emplace(std::move(*page));
        co_return error_code{};
    }
    bool enough() const override { return !page_->empty(); }
    std::int64_t reaches() const override { return page_->reaches(); }

    const feed_page& page() const { return *page_; }

private:
    activity_feed& feed_;
    const feed_query& asked_;
    std::optional<feed_page> page_;
};

}  // namespace

awaitable<response> handle_activity(request_context& req, inbox_services& svc)
{
    const auto asked = read_activity_query(req.workspace_id(), req.query());
    if (!asked)
        co_return req.fail(asked.error());
    auto known = co_await svc.auth.workspace_for(caller_of(req), req.workspace_id());
    if (!known)
        co_return req.fail(known.error());
    if (acts_as_agent(caller_of(req), req.workspace_id()))
        svc.presence.note(req.workspace_id(), real_clock().now());
    page_read reading(svc.feed, asked->feed);
    if (asked->wait.count() == 0) {
        if (const auto ec = co_await reading.read())
            co_return req.fail(refusal_of(ec, asked->feed));
        co_return answer_page(req, svc, reading.page(), asked->feed.peer_info);
    }
    if (const auto ec = co_await read_or_wait(req, svc.requests, svc.polls, req.workspace_id(),
                                              caller_of(req), asked->wait, reading))
        co_return req.fail(refusal_of(ec, asked->feed));
    // Asked again after the page was read, however short the wait: the token may have been looked up seconds
    // before it began.
    const auto valid = co_await svc.auth.still_valid(caller_of(req));
    if (!valid)
        co_return req.fail(valid.error());
    co_return answer_page(req, svc, reading.page(), asked->feed.peer_info);
}

}  // namespace restante
