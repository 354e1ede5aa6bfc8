#pragma once

#include "server/events/event_frame.hpp"

#include <deque>

namespace restante {

// What one subscriber has still to be sent. It holds references; the texts are shared with the other
// subscribers.
class event_queue {
public:
    static constexpr std::size_t max_events = 256;
    static constexpr std::size_t max_bytes = 1u << 20;

    // False when there is no room, and then nothing changes. An empty queue takes an event of any size, or a
    // large one could never be sent.
    bool push(shared_event next)
    {
        const auto size = next->size();
        if (!events_.empty() && (events_.size() == max_events || bytes_ + size > max_bytes))
            return false;
        bytes_ += size;
        events_.push_back(std::move(next));
        return true;
    }

    // Neither may be called on an empty queue.
    const event& front() const { return *events_.front(); }
    shared_event pop()
    {
        auto first = std::move(events_.front());
        events_.pop_front();
        bytes_ -= first->size();
        return first;
    }

    void clear()
    {
        events_.clear();
        bytes_ = 0;
    }

    bool empty() const { return events_.empty(); }
    std::size_t size() const { return events_.size(); }
    std::size_t bytes() const { return bytes_; }

private:
    std::deque<shared_event> events_;
    std::size_t bytes_ = 0;
};

}  // namespace restante
