#include "storage/pq/pool_state.hpp"

#include <algorithm>

namespace restante::pq {

namespace {

unsigned quarter(unsigned connections)
{
    return std::max(1u, connections / 4);
}

unsigned half(unsigned connections)
{
    return std::max(1u, connections / 2);
}

}  // namespace

pool_state::pool_state(limits with)
    : limits_(with), small_(half(with.connections)), large_(half(quarter(with.connections)))
{
}

unsigned pool_state::large_limit() const
{
    return quarter(limits_.connections);
}

// However many owners there are, the server itself finds a place.
bool pool_state::is_full(const purpose& why) const
{
    const fair_queue& line = queue(why.in);
    if (line.waiting_of(why.owner) >= limits_.waiters_each)
        return true;
    return why.owner != uuid{} && line.size() >= limits_.waiters;
}

pool_state::verdict pool_state::ask(const purpose& why, ticket who, clock::time_point now)
{
    if (down(now))
        return verdict::refuse_down;
    if (all_abandoned())
        return verdict::refuse_full;
    // Those who can be served have been, so whoever still waits in this lane comes first. Small work need not
    // queue behind large work that waits for its own lane.
    const bool first = queue(why.in).size() == 0 && (why.in == lane::small || small_.size() == 0);
    if (first && idle_ > 0 && may_start(why.in)) {
        --idle_;
        queue(why.in).took(why.owner);
        return verdict::take_idle;
    }
    if (is_full(why))
        return verdict::refuse_full;
    queue(why.in).add(who, why.owner);
    return verdict::wait;
}

std::optional<pool_state::served> pool_state::refuse_one(verdict what)
{
    for (const lane in : {lane::small, lane::large}) {
        if (queue(in).size() == 0)
            continue;
        const auto refused = queue(in).pop();
        return served{refused.who, what, {in, refused.owner}};
    }
    return std::nullopt;
}

std::optional<pool_state::served> pool_state::serve(clock::time_point now)
{
    // While the database is unavailable and no connection is left that could be returned, waiting is
    // pointless.
    if (down(now))
        return refuse_one(verdict::refuse_down);
    if (all_abandoned() && in_use() == 0)
        return refuse_one(verdict::refuse_full);
    if (idle_ == 0 || all_abandoned())
        return std::nullopt;
    const auto small = small_.next();
    const auto large = may_start(lane::large) ? large_.next() : std::nullopt;
    if (!small && !large)
        return std::nullopt;
    const lane in = !small || (large && large->who < small->who) ? lane::large : lane::small;
    const auto chosen = in == lane::large ? *large : *small;
    --idle_;
    queue(in).serve(chosen);
    return served{chosen.who, verdict::take_idle, {in, chosen.owner}};
}

void pool_state::leave(ticket who)
{
    small_.leave(who);
    large_.leave(who);
}

std::size_t pool_state::servable() const
{
    const std::size_t room = large_limit() - std::min(large_limit(), large_.held());
    return small_.size() + std::min(large_.size(), room);
}

bool pool_state::should_open(clock::time_point now)
{
    const bool wanted = servable() > opening_ && !silent_ && now >= retry_at_;
    if (!wanted || all_abandoned() || alive() + abandoned_ >= limits_.connections)
        return false;
    ++opening_;
    return true;
}

bool pool_state::take_idle_for_pool()
{
    if (idle_ == 0)
        return false;
    --idle_;
    small_.took({});
    return true;
}

bool pool_state::should_open_for_pool(clock::time_point now)
{
    if (opening_ > 0 || now < retry_at_ || (!silent_ && alive() > 0))
        return false;
    ++opening_;
    return true;
}

void pool_state::went_silent()
{
    silent_ = true;
    idle_ = 0;
}

void pool_state::opened()
{
    --opening_;
    ++idle_;
    answered();
    backoff_ = std::chrono::milliseconds(0);
    retry_at_ = {};
}

void pool_state::open_failed(clock::time_point now)
{
    --opening_;
    if (now < retry_at_)
        return;  // several attempts at once are one failure
    backoff_ = backoff_.count() == 0 ? limits_.first_backoff : std::min(backoff_ * 2, limits_.last_backoff);
    retry_at_ = now + backoff_;
}

void pool_state::returned_idle(const purpose& why)
{
    queue(why.in).returned(why.owner);
    ++idle_;
}

void pool_state::returned_dirty(const purpose& why)
{
    queue(why.in).returned(why.owner);
    ++dirty_;
}

void pool_state::cleaned()
{
    --dirty_;
    ++idle_;
}

void pool_state::lost(const purpose& why)
{
    queue(why.in).returned(why.owner);
}

}  // namespace restante::pq
