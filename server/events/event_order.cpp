#include "server/events/event_order.hpp"

#include <algorithm>

namespace restante {

void event_order::open_at(std::int64_t head, events& ready)
{
    if (open_)
        return;
    open_ = true;
    last_ = head;
    known_ = std::max(known_, head);
    release(ready);
}

void event_order::offer(shared_event next, events& ready)
{
    note_head(next->seq);
    // The event that the others wait for is never refused, however many they are.
    if (open_ && next->seq == last_ + 1) {
        last_ = next->seq;
        ready.push_back(std::move(next));
        return release(ready);
    }
    if ((open_ && next->seq <= last_) || !has_room_for(*next))
        return;
    const auto bytes = next->size();
    if (held_.emplace(next->seq, std::move(next)).second)
        held_bytes_ += bytes;
}

bool event_order::has_room_for(const event& next) const
{
    return held_.size() < max_held && held_bytes_ + next.size() <= max_held_bytes;
}

void event_order::accept(shared_event next, events& ready)
{
    if (next->seq <= last_)
        return;
    last_ = next->seq;
    note_head(last_);
    ready.push_back(std::move(next));
    release(ready);
}

void event_order::note_head(std::int64_t head)
{
    known_ = std::max(known_, head);
}

void event_order::nothing_up_to(std::int64_t head, events& ready)
{
    last_ = std::max(last_, head);
    release(ready);
}

void event_order::restart_at(std::int64_t head)
{
    last_ = known_ = head;
    held_.clear();
    held_bytes_ = 0;
}

void event_order::release(events& ready)
{
    while (!held_.empty() && held_.begin()->first <= last_)
        take_first_held();
    while (!held_.empty() && held_.begin()->first == last_ + 1) {
        ready.push_back(take_first_held());
        ++last_;
    }
}

shared_event event_order::take_first_held()
{
    auto first = std::move(held_.begin()->second);
    held_.erase(held_.begin());
    held_bytes_ -= first->size();
    return first;
}

}  // namespace restante
