#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

namespace restante::pq {

// Large work (a COPY of megabytes) may hold only a quarter of the connections, so that small work always
// finds one.
enum class lane { small, large };

// The pool's decisions without I/O: counts, lanes, a queue of waiters, a backoff. The caller passes the time
// in.
class pool_node {
public:
    using clock = std::chrono::steady_clock;
    using ticket = std::uint64_t;

    struct limits {
        unsigned connections = 4;
        unsigned waiters = 1024;
        std::chrono::milliseconds first_backoff{50};
        std::chrono::milliseconds last_backoff{2000};
    };

    enum class verdict {
        take_idle,    // use an idle connection
        open,         // open one yourself; then call opened() or open_failed()
        wait,         // queued; serve() will return your ticket
        refuse_full,  // the queue is full
        refuse_down,  // the database was unavailable a moment ago
    };

    struct served {
        ticket who;
        verdict what;
    };

    explicit pool_node(limits with);

    // A caller requests a connection; `who` identifies it in the queue.
    verdict ask(lane in, ticket who, clock::time_point now);

    // The first waiter that can be served now, and what it gets. Call until it is empty whenever a connection
    // was returned, lost or opened.
    std::optional<served> serve(clock::time_point now);

    // A waiter gave up.
    void leave(ticket who);

    void opened();
    void open_failed(lane in, clock::time_point now);

    // The database does not reply in time: idle connections are closed, and all callers are refused until the
    // pool itself has opened one. Otherwise each caller would run into the timeout in turn.
    void went_silent();
    bool silent() const { return silent_; }
    void opening_unasked() { ++small_; }

    // A connection was returned: idle again, set aside for a rollback, or closed.
    void returned_idle(lane in);
    void returned_dirty(lane in);
    void cleaned();
    void closed_dirty();
    void lost(lane in);

    unsigned in_use() const { return small_ + large_; }
    unsigned idle() const { return idle_; }
    std::size_t waiting() const { return queue_.size(); }
    bool down(clock::time_point now) const { return silent_ || (now < retry_at_ && alive() == 0); }
    clock::time_point retry_at() const { return retry_at_; }
    unsigned large_limit() const;

private:
    struct waiter {
        ticket who;
        lane in;
    };

    unsigned alive() const { return small_ + large_ + idle_ + dirty_; }
    bool may_start(lane in) const { return in == lane::small || large_ < large_limit(); }
    std::optional<verdict> grant(lane in, clock::time_point now);
    unsigned& held(lane in) { return in == lane::large ? large_ : small_; }

    limits limits_;
    unsigned small_ = 0;  // held or being opened by small work
    unsigned large_ = 0;
    unsigned idle_ = 0;
    unsigned dirty_ = 0;
    std::deque<waiter> queue_;
    bool silent_ = false;
    std::chrono::milliseconds backoff_{0};
    clock::time_point retry_at_{};
};

}  // namespace restante::pq
