#include "storage/pq/fair_queue.hpp"

#include <algorithm>

namespace restante::pq {

bool fair_queue::has_its_share(const uuid& owner) const
{
    const auto found = held_.find(owner);
    return found != held_.end() && found->second >= share_;
}

std::size_t fair_queue::waiting_of(const uuid& owner) const
{
    const auto found =
        std::find_if(turns_.begin(), turns_.end(), [&](const line& l) { return l.owner == owner; });
    return found == turns_.end() ? 0 : found->tickets.size();
}

void fair_queue::add(ticket who, const uuid& owner)
{
    ++size_;
    const auto found =
        std::find_if(turns_.begin(), turns_.end(), [&](const line& l) { return l.owner == owner; });
    if (found != turns_.end())
        found->tickets.push_back(who);
    else
        turns_.push_back({owner, {who}});
}

void fair_queue::leave(ticket who)
{
    for (auto it = turns_.begin(); it != turns_.end(); ++it) {
        if (std::erase(it->tickets, who) == 0)
            continue;
        --size_;
        if (it->tickets.empty())
            turns_.erase(it);
        return;
    }
}

std::optional<fair_queue::place> fair_queue::next() const
{
    if (turns_.empty())
        return std::nullopt;
    const auto below =
        std::find_if(turns_.begin(), turns_.end(), [this](const line& l) { return !has_its_share(l.owner); });
    const auto& chosen = below != turns_.end() ? *below : turns_.front();
    return place{chosen.tickets.front(), chosen.owner};
}

void fair_queue::serve(const place& served)
{
    const auto found =
        std::find_if(turns_.begin(), turns_.end(), [&](const line& l) { return l.owner == served.owner; });
    line rest = std::move(*found);
    turns_.erase(found);
    rest.tickets.pop_front();
    if (!rest.tickets.empty())
        turns_.push_back(std::move(rest));
    --size_;
    took(served.owner);
}

fair_queue::place fair_queue::pop()
{
    const place first{turns_.front().tickets.front(), turns_.front().owner};
    leave(first.who);
    return first;
}

void fair_queue::took(const uuid& owner)
{
    ++held_[owner];
    ++total_held_;
}

void fair_queue::returned(const uuid& owner)
{
    --total_held_;
    const auto found = held_.find(owner);
    if (--found->second == 0)
        held_.erase(found);
}

}  // namespace restante::pq
