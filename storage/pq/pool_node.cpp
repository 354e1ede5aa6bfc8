#include "storage/pq/pool_node.hpp"

#include <algorithm>

namespace restante::pq {

pool_node::pool_node(limits with) : limits_(with) {}

unsigned pool_node::large_limit() const
{
    return std::max(1u, limits_.connections / 4);
}

std::optional<pool_node::verdict> pool_node::grant(lane in, clock::time_point now)
{
    if (silent_ || !may_start(in))
        return std::nullopt;
    if (idle_ > 0) {
        --idle_;
        ++held(in);
        return verdict::take_idle;
    }
    if (alive() < limits_.connections && now >= retry_at_) {
        ++held(in);
        return verdict::open;
    }
    return std::nullopt;
}

pool_node::verdict pool_node::ask(lane in, ticket who, clock::time_point now)
{
    if (down(now))
        return verdict::refuse_down;
    // FIFO, except that small work need not queue behind large work that waits for its own lane.
    const bool overtakes =
        in == lane::small &&
        std::all_of(queue_.begin(), queue_.end(), [](const waiter& w) { return w.in == lane::large; });
    if (queue_.empty() || overtakes) {
        if (const auto granted = grant(in, now))
            return *granted;
    }
    if (queue_.size() >= limits_.waiters)
        return verdict::refuse_full;
    queue_.push_back({who, in});
    return verdict::wait;
}

std::optional<pool_node::served> pool_node::serve(clock::time_point now)
{
    // While the database is unavailable and no connection is left that could be returned, waiting is
    // pointless.
    if (!queue_.empty() && down(now)) {
        const auto who = queue_.front().who;
        queue_.pop_front();
        return served{who, verdict::refuse_down};
    }
    for (auto it = queue_.begin(); it != queue_.end(); ++it) {
        if (const auto granted = grant(it->in, now)) {
            const auto who = it->who;
            queue_.erase(it);
            return served{who, *granted};
        }
        if (it->in == lane::small)
            break;  // no connection is free, and later waiters must not overtake
    }
    return std::nullopt;
}

void pool_node::leave(ticket who)
{
    std::erase_if(queue_, [who](const waiter& w) { return w.who == who; });
}

void pool_node::went_silent()
{
    silent_ = true;
    idle_ = 0;
}

void pool_node::opened()
{
    silent_ = false;
    backoff_ = std::chrono::milliseconds(0);
    retry_at_ = {};
}

void pool_node::open_failed(lane in, clock::time_point now)
{
    --held(in);
    backoff_ = backoff_.count() == 0 ? limits_.first_backoff : std::min(backoff_ * 2, limits_.last_backoff);
    retry_at_ = now + backoff_;
}

void pool_node::returned_idle(lane in)
{
    --held(in);
    ++idle_;
}

void pool_node::returned_dirty(lane in)
{
    --held(in);
    ++dirty_;
}

void pool_node::cleaned()
{
    --dirty_;
    ++idle_;
}

void pool_node::closed_dirty()
{
    --dirty_;
}

void pool_node::lost(lane in)
{
    --held(in);
}

}  // namespace restante::pq
