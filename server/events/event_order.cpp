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
    if ((open_ && next->seq <= last_) || held_.size() >= max_held)
        return;
    held_.emplace(next->seq, std::move(next));
    if (open_)
        release(ready);
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
}

void event_order::release(events& ready)
{
    held_.erase(held_.begin(), held_.upper_bound(last_));
    while (!held_.empty() && held_.begin()->first == last_ + 1) {
        ready.push_back(std::move(held_.begin()->second));
        held_.erase(held_.begin());
        ++last_;
    }
}

}  // namespace restante
