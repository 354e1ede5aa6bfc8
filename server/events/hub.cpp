#include "server/events/hub.hpp"

#include "core/fault_point.hpp"
#include "core/log.hpp"

#include <algorithm>

namespace restante {

hub::hub(executor ex, feed_tail& feed, metric_set& metrics)
    : executor_(ex), feed_(feed), metrics_(metrics), reading_(ex)
{
}

// The subscriber is registered before the database is asked for the head of the feed: what is committed
// meanwhile is held, and no event is lost between the two.
awaitable<result<std::unique_ptr<subscriber>>> hub::subscribe(principal who, std::optional<uuid> workspace)
{
    std::unique_ptr<subscriber> added(new subscriber(*this, executor_, who, workspace, metrics_));
    if (!workspace) {
        to_all_.push_back(*added);
        const auto opened = co_await open_all();
        if (!opened)
            co_return opened.error();
        co_return added;
    }
    streams_[*workspace].listeners.push_back(*added);
    const auto opened = co_await open_one(*workspace);
    if (!opened)
        co_return opened.error();
    added->start_ = streams_[*workspace].order.last();
    co_return added;
}

awaitable<result<void>> hub::open_one(uuid workspace)
{
    if (streams_[workspace].order.is_open())
        co_return result<void>();
    const std::span<const uuid> asked(&workspace, 1);
    const auto heads = co_await feed_.heads(asked);
    if (!heads)
        co_return heads.error();
    stream& opened = streams_[workspace];
    opened.order.open_at(heads->empty() ? 0 : heads->front().seq, ready_);
    deliver(opened);
    read_if_behind(workspace, opened);
    co_return result<void>();
}

awaitable<result<void>> hub::open_all()
{
    if (follows_all_)
        co_return result<void>();
    const auto heads = co_await feed_.all_heads();
    if (!heads)
        co_return heads.error();
    follows_all_ = true;
    for (const auto& head : *heads) {
        stream& each = streams_[head.workspace];
        each.order.open_at(head.seq, ready_);
        deliver(each);
    }
    // The others had no activity a moment ago.
    for (auto& [workspace, each] : streams_) {
        each.order.open_at(0, ready_);
        deliver(each);
        read_if_behind(workspace, each);
    }
    co_return result<void>();
}

void hub::forget(const std::optional<uuid>& workspace)
{
    if (!to_all_.empty())
        return;
    if (std::exchange(follows_all_, false) || !workspace) {
        std::erase_if(streams_, [](const auto& each) { return each.second.listeners.empty(); });
        return;
    }
    const auto left = streams_.find(*workspace);
    if (left != streams_.end() && left->second.listeners.empty())
        streams_.erase(left);
}

hub::stream* hub::find_or_follow(const uuid& workspace)
{
    const auto found = streams_.find(workspace);
    if (found != streams_.end())
        return &found->second;
    if (to_all_.empty())
        return nullptr;
    stream& added = streams_[workspace];
    if (follows_all_)
        added.order.open_at(0, ready_);
    return &added;
}

void hub::on_commit(std::shared_ptr<const feed_entry> row) noexcept
try {
    publish(*row);
} catch (const std::exception& e) {
    log_line(log_level::error, "event_lost").field("error", e.what());
    send_away_from(row->what.workspace_id);
}

// Memory ran out in the middle, so it is unknown which subscriber got what. They reconnect and resume where
// they stopped.
void hub::send_away_from(const uuid& workspace) noexcept
{
    ready_.clear();
    const auto found = streams_.find(workspace);
    if (found != streams_.end())
        for (auto& listener : found->second.listeners)
            listener.send_away(farewell::fell_behind);
    for (auto& listener : to_all_)
        listener.send_away(farewell::fell_behind);
}

void hub::publish(const feed_entry& row)
{
    const auto& workspace = row.what.workspace_id;
    stream* const to = find_or_follow(workspace);
    if (!to)
        return;
    fault_point("before_delivery");
    to->order.offer(make_event(row), ready_);
    deliver(*to);
    read_if_behind(workspace, *to);
}

void hub::on_remote_activity(const uuid& workspace, std::int64_t seq) noexcept
{
    if (stream* const of = find_or_follow(workspace)) {
        of->order.note_head(seq);
        read_if_behind(workspace, *of);
    }
}

void hub::deliver(stream& from)
{
    for (const auto& next : ready_) {
        for (auto& listener : from.listeners)
            listener.put(next);
        for (auto& listener : to_all_)
            listener.put(next);
    }
    ready_.clear();
}

template <class Predicate>
void hub::send_away_if(Predicate unwanted)
{
    const auto look_at = [&](subscriber_list& listeners) {
        for (auto& each : listeners)
            if (each.who().kind == principal_kind::workspace && unwanted(each.who()))
                each.send_away(farewell::not_allowed);
    };
    for (auto& [workspace, of] : streams_)
        look_at(of.listeners);
    look_at(to_all_);
}

void hub::on_token_revoked(const uuid& token) noexcept
{
    send_away_if([&](const principal& who) { return who.token == token; });
}

void hub::on_workspace_removed(const uuid& workspace) noexcept
{
    send_away_if([&](const principal& who) { return who.workspace.id == workspace; });
}

void hub::refuse_token(const digest32& hash)
{
    send_away_if([&](const principal& who) { return who.token_hash == hash; });
}

std::vector<digest32> hub::tokens_in_use() const
{
    std::vector<digest32> tokens;
    for (const auto& [workspace, of] : streams_)
        for (const auto& each : of.listeners)
            if (each.who().kind == principal_kind::workspace)
                tokens.push_back(each.who().token_hash);
    std::sort(tokens.begin(), tokens.end());
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    return tokens;
}

}  // namespace restante
