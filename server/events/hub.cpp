#include "server/events/hub.hpp"

#include "core/fault_point.hpp"
#include "core/log.hpp"

#include <algorithm>

namespace restante {

// Those that are sent away end their write at once; this is for a hub that has nobody to send away.
constexpr auto longest_wait_for_room = std::chrono::seconds(5);

hub::hub(executor ex, feed_tail& feed, metric_set& metrics)
    : executor_(ex), feed_(feed), metrics_(metrics), memory_(ex, metrics_.held_bytes), reading_(ex)
{
}

awaitable<result<std::unique_ptr<subscriber>>> hub::subscribe(principal who, std::optional<uuid> workspace)
{
    auto added = admit(who, workspace);
    const auto started = co_await start(*added);
    if (!started)
        co_return started.error();
    co_return added;
}

std::unique_ptr<subscriber> hub::admit(principal who, std::optional<uuid> workspace)
{
    auto added = std::make_unique<subscriber>(*this, executor_, who, workspace, metrics_);
    admitted_.push_back(*added);
    return added;
}

// The listener is in its place before the database is asked where the feed stands: what is committed
// meanwhile is held, and nothing falls between the answer and the first event.
awaitable<result<void>> hub::start(subscriber& listener)
{
    listener.unlink();
    if (!listener.workspace_) {
        to_all_.push_back(listener);
        co_return co_await open_all();
    }
    const auto workspace = *listener.workspace_;
    streams_[workspace].listeners.push_back(listener);
    const auto opened = co_await open_one(workspace);
    if (opened && listener.who().may_learn_of(std::nullopt))
        listener.start_ = streams_[workspace].order.last();
    co_return opened;
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
    disconnect_from(row->what.workspace_id);
}

// Memory ran out in the middle, so it is unknown which subscriber got what. They reconnect and resume where
// they stopped.
void hub::disconnect_from(const uuid& workspace) noexcept
{
    ready_.clear();
    const auto found = streams_.find(workspace);
    if (found != streams_.end())
        for (auto& listener : found->second.listeners)
            listener.disconnect(close_cause::fell_behind);
    for (auto& listener : to_all_)
        listener.disconnect(close_cause::fell_behind);
}

void hub::publish(const feed_entry& row)
{
    const auto& workspace = row.what.workspace_id;
    stream* const to = find_or_follow(workspace);
    if (!to)
        return;
    fault_point("before_delivery");
    const auto view = view_of(row);
    make_room(frame_size(view));
    // Without room it is read again from the database, when those that were sent away have given theirs back.
    if (memory_.has_room_for(frame_size(view)))
        to->order.offer(make_event(view, memory_), ready_);
    else
        to->order.note_head(row.seq);
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

// Rows of the feed are not for listeners that only send.
void hub::deliver(stream& from)
{
    for (const auto& next : ready_) {
        for (auto& listener : from.listeners)
            if (listener.who().may_learn_of(std::nullopt))
                listener.put(next);
        for (auto& listener : to_all_)
            listener.put(next);
    }
    ready_.clear();
}

template <class Action>
void hub::for_each_listener(Action action)
{
    for (auto& [workspace, of] : streams_)
        std::for_each(of.listeners.begin(), of.listeners.end(), action);
    std::for_each(to_all_.begin(), to_all_.end(), action);
    std::for_each(admitted_.begin(), admitted_.end(), action);
}

void hub::make_room(std::size_t bytes)
{
    if (memory_.has_room_for(bytes))
        return;
    std::size_t leaving = 0;
    for_each_listener([&](const subscriber& each) {
        if (each.cause() != close_cause::none)
            leaving += each.held();
    });
    while (memory_.held() + bytes > event_memory::limit + leaving) {
        subscriber* const most = largest_burden();
        if (!most)
            return;
        most->drop(close_cause::fell_behind);
        leaving += most->held();
    }
}

awaitable<std::optional<event_memory::share>> hub::reserve(std::size_t bytes)
{
    const auto end = std::chrono::steady_clock::now() + longest_wait_for_room;
    for (make_room(bytes); !memory_.has_room_for(bytes); make_room(bytes)) {
        const bool given_back = co_await memory_.wait_for_release(end);
        if (!given_back)
            co_return std::nullopt;
    }
    co_return event_memory::share(memory_, bytes);
}

subscriber* hub::largest_burden()
{
    const auto now = std::chrono::steady_clock::now();
    subscriber* most = nullptr;
    for_each_listener([&](subscriber& each) {
        if (each.cause() != close_cause::none || each.held() == 0)
            return;
        if (!most || each.burden(now) > most->burden(now))
            most = &each;
    });
    return most;
}

template <class Predicate>
void hub::disconnect_if(Predicate unwanted)
{
    for_each_listener([&](subscriber& each) {
        if (each.who().kind == principal_kind::workspace && unwanted(each.who()))
            each.drop(close_cause::not_allowed);
    });
}

void hub::on_token_revoked(const uuid& token) noexcept
{
    disconnect_if([&](const principal& who) { return who.token == token; });
}

void hub::on_workspace_removed(const uuid& workspace) noexcept
{
    disconnect_if([&](const principal& who) { return who.workspace.id == workspace; });
}

void hub::disconnect_admins()
{
    for_each_listener([](subscriber& each) {
        if (each.who().kind == principal_kind::admin)
            each.drop(close_cause::not_allowed);
    });
}

void hub::refuse_token(const digest32& hash)
{
    disconnect_if([&](const principal& who) { return who.token_hash == hash; });
}

void hub::add_tokens(std::vector<digest32>& to) const
{
    const auto add_from = [&](const subscriber_list& listeners) {
        for (const auto& each : listeners)
            if (each.who().kind == principal_kind::workspace)
                to.push_back(each.who().token_hash);
    };
    for (const auto& [workspace, of] : streams_)
        add_from(of.listeners);
    add_from(to_all_);
    add_from(admitted_);
}

// An agent that hears its peers too listens to all workspaces; it is the agent of its own.
void hub::add_present(std::vector<uuid>& to) const
{
    for (const auto& [workspace, of] : streams_)
        if (std::any_of(of.listeners.begin(), of.listeners.end(),
                        [&id = workspace](const subscriber& each) { return acts_as_agent(each.who(), id); }))
            to.push_back(workspace);
    for (const auto& each : to_all_)
        if (acts_as_agent(each.who(), each.who().workspace.id))
            to.push_back(each.who().workspace.id);
}

}  // namespace restante
