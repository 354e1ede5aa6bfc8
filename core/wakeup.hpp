#pragma once

#include "core/asio.hpp"

#include <boost/intrusive/list.hpp>

namespace restante {

// A condition variable for the coroutines of one shard. It keeps no state of its own: a waiter checks its
// condition, waits, and checks again. With only one thread, no wake-up is lost in between.
class wakeup {
public:
    using time_point = std::chrono::steady_clock::time_point;

    explicit wakeup(executor ex) : executor_(ex) {}
    wakeup(const wakeup&) = delete;
    wakeup& operator=(const wakeup&) = delete;

    // True after notify_all(), false if the time comes first. Throws operation_aborted when the waiting
    // coroutine is cancelled. The wakeup must outlive its waiters.
    awaitable<bool> wait_until(time_point moment);
    awaitable<bool> wait() { return wait_until(time_point::max()); }

    void notify_all();
    bool has_waiters() const { return !waiters_.empty(); }

private:
    using hook = boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;
    struct waiter : hook {
        explicit waiter(executor ex) : timer(ex) {}
        steady_timer timer;
        bool notified = false;
    };

    executor executor_;
    boost::intrusive::list<waiter, boost::intrusive::constant_time_size<false>> waiters_;
};

}  // namespace restante
