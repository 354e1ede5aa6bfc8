#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

namespace restante::pq {

// Large work (a COPY of megabytes) may only hold a quarter of the connections, so that small work always
// finds one.
enum class lane { small, large };

// What the pool does next, decided without doing any of it: counts, lanes, a queue of waiters, a backoff.
// Time is handed in.
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
        take_idle,    // an idle connection is yours
        open,         // open one yourself; tell opened() or open_failed()
        wait,         // in the queue; serve() will name your ticket
        refuse_full,  // too many are waiting
        refuse_down,  // the database was away a moment ago
    };

    struct served {
        ticket who;
        verdict what;
    };

    explicit pool_node(limits with);

    // A caller wants a connection; who is the name it waits under.
    verdict ask(lane in, ticket who, clock::time_point now);

    // The oldest waiter that can be served now, with what it gets. Call until it is empty whenever a
    // connection came back, was lost or opened.
    std::optional<served> serve(clock::time_point now);

    // A waiter gave up.
    void leave(ticket who);

    void opened();
    void open_failed(lane in, clock::time_point now);

    // The database takes words and gives none: idle connections are closed, and everybody is refused until
    // one that the pool opens for itself was opened. Otherwise each caller would find out anew, and slowly.
    void went_silent();
    bool silent() const { return silent_; }
    void opening_unasked() { ++small_; }

    // A connection came back from its holder: idle again, set aside to be rolled back, or closed.
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
