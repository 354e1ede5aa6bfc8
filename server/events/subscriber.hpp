#pragma once

#include "auth/principal.hpp"
#include "core/wakeup.hpp"
#include "server/events/event_metrics.hpp"
#include "server/events/event_queue.hpp"

#include <boost/intrusive/list.hpp>

#include <optional>

namespace restante {

class hub;

// Why a subscriber is disconnected.
enum class farewell { none, fell_behind, not_allowed, shutting_down };

// One subscriber as its hub sees it: a queue, and whether it may go on. Its session takes events out and
// sends them as fast as its client reads; nothing waits for it.
class subscriber
    : public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
public:
    // Receives nothing yet: hub::subscribe() makes one that does.
    subscriber(hub& at, executor ex, principal who, std::optional<uuid> workspace, event_metrics& metrics);
    ~subscriber();
    subscriber(const subscriber&) = delete;
    subscriber& operator=(const subscriber&) = delete;

    // Rows after this number are delivered; 0 for a subscriber to all workspaces.
    std::int64_t start() const { return start_; }
    const principal& who() const { return who_; }

    farewell told_to_leave() const { return farewell_; }
    bool has_events() const { return !queue_.empty(); }
    shared_event take() { return queue_.pop(); }

    // Returns when there is something to do, or at the deadline.
    awaitable<void> wait_until(wakeup::time_point moment);
    // Makes wait_until() return.
    void wake() { changed_.notify_all(); }

    // Empties the queue: a subscriber that is disconnected gets no more events. The first reason stays.
    void send_away(farewell why);

private:
    friend class hub;
    void put(const shared_event& next);

    hub& hub_;
    principal who_;
    std::optional<uuid> workspace_;
    event_metrics& metrics_;
    event_queue queue_;
    wakeup changed_;
    farewell farewell_ = farewell::none;
    std::int64_t start_ = 0;
};

using subscriber_list = boost::intrusive::list<subscriber, boost::intrusive::constant_time_size<false>>;

}  // namespace restante
