#pragma once

#include "auth/principal.hpp"
#include "core/wakeup.hpp"
#include "server/events/event_metrics.hpp"
#include "server/events/event_queue.hpp"

#include <boost/intrusive/list.hpp>

#include <functional>
#include <optional>

namespace restante {

class hub;

// Why a subscriber is disconnected.
enum class close_cause { none, fell_behind, not_allowed, shutting_down };

// One subscriber as its hub sees it: a queue, and whether it may go on. Its session takes events out and
// sends them as fast as its client reads; nothing waits for it.
class subscriber
    : public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
public:
    // Hears nothing yet: hub::admit() makes one that can be sent away, hub::subscribe() one that listens.
    subscriber(hub& at, executor ex, principal who, std::optional<uuid> workspace, event_metrics& metrics);
    ~subscriber();
    subscriber(const subscriber&) = delete;
    subscriber& operator=(const subscriber&) = delete;

    // Rows after this number are delivered; 0 for a subscriber to all workspaces, or one that gets no rows.
    std::int64_t start() const { return start_; }
    const principal& who() const { return who_; }

    close_cause cause() const { return cause_; }
    bool has_events() const { return !queue_.empty(); }
    const event& next() const { return queue_.front(); }

    // Its session sends what it takes; until release() that counts as held, as does what else it is sending.
    shared_event take();
    void hold(std::size_t bytes);
    void release() { sending_ = 0; }

    std::size_t held() const { return queue_.bytes() + sending_; }
    // How much it holds and for how long: bytes times seconds.
    double burden(wakeup::time_point now) const;

    // The feed has gone back to this number and goes on from there; said once.
    std::optional<std::int64_t> take_rewind() { return std::exchange(rewound_to_, std::nullopt); }

    // Returns when there is something to do, or at the deadline.
    awaitable<void> wait_until(wakeup::time_point moment);
    // Makes wait_until() return.
    void wake() { changed_.notify_all(); }

    // Empties the queue: a subscriber that is disconnected gets no more events. The first reason stays.
    void disconnect(close_cause why);
    // Besides, what is being sent to it is not waited for.
    void drop(close_cause why);
    // Its session reads from the database what it did not get here: it need not be sent away for falling
    // behind.
    void allow_gaps() { gaps_allowed_ = true; }
    // How its session ends a write that is under way; empty for none.
    void on_drop(std::function<void()> interrupt) { interrupt_ = std::move(interrupt); }

private:
    friend class hub;
    void put(const shared_event& next);
    void put_hint(const shared_event& next);
    bool queue(const shared_event& next);
    void rewind(std::int64_t seq);

    hub& hub_;
    principal who_;
    std::optional<uuid> workspace_;
    event_metrics& metrics_;
    event_queue queue_;
    wakeup changed_;
    close_cause cause_ = close_cause::none;
    std::function<void()> interrupt_;
    bool gaps_allowed_ = false;
    std::optional<std::int64_t> rewound_to_;
    std::int64_t start_ = 0;
    std::size_t sending_ = 0;
    wakeup::time_point since_{};  // when what it holds first was taken or put there
};

using subscriber_list = boost::intrusive::list<subscriber, boost::intrusive::constant_time_size<false>>;

}  // namespace restante
