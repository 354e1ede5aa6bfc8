#pragma once

#include "core/asio.hpp"

#include <boost/intrusive/list.hpp>

namespace restante {

// Wakes the coroutines of one shard that wait for something to change. It keeps no state of its own: whoever
// waits looks at the condition, waits, and looks again. One thread, so no wake-up is lost in between.
class wakeup {
public:
    using time_point = std::chrono::steady_clock::time_point;

    explicit wakeup(executor ex) : executor_(ex) {}
    wakeup(const wakeup&) = delete;
    wakeup& operator=(const wakeup&) = delete;

    // True after notify_all(), false when the moment has come first. Throws operation_aborted when the
    // waiting coroutine is cancelled. The wakeup must outlive its waiters.
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
