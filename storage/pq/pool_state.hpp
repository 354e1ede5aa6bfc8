#pragma once

#include "storage/pq/fair_queue.hpp"

#include <chrono>

namespace restante::pq {

// Large work (a COPY of megabytes) may hold only a quarter of the connections, so that small work always
// finds one.
enum class lane { small, large };

// The owner of work for those who have shown no token. Together they are one.
inline constexpr uuid strangers{{0xFF}};

// For whom a connection is used: a lane and an owner, who shares the lane with others. Nil is the server.
struct purpose {
    lane in = lane::small;
    uuid owner = {};
};

// The pool's decisions without I/O: counts, lanes, queues of waiters, a backoff. The caller passes the time
// in.
//
// Callers never open a connection: they take an idle one or wait. Separately the pool asks should_open(), and
// what it opened becomes idle and goes to whoever is next.
class pool_state {
public:
    using clock = std::chrono::steady_clock;
    using ticket = fair_queue::ticket;

    struct limits {
        unsigned connections = 4;
        unsigned waiters = 1024;      // of each lane
        unsigned waiters_each = 256;  // of one owner in a lane
        std::chrono::milliseconds first_backoff{50};
        // After a failover it delays the first commit on the new primary.
        std::chrono::milliseconds last_backoff{500};
    };

    enum class verdict {
        take_idle,    // use an idle connection
        wait,         // queued; serve() will return your ticket
        refuse_full,  // the owner's part of the queue or all of it is full, or every connection is stuck in
                      // PostgreSQL
        refuse_down,  // the database was unavailable a moment ago
    };

    struct served {
        ticket who;
        verdict what;
        purpose used_for;
    };

    explicit pool_state(limits with);

    // A caller requests a connection; `who` identifies it in the queue.
    verdict ask(const purpose& why, ticket who, clock::time_point now);

    // The first waiter that can be served now, and what it gets. Call until it is empty whenever a connection
    // was returned, lost or opened.
    std::optional<served> serve(clock::time_point now);

    // A waiter gave up.
    void leave(ticket who);

    // Whether one more connection should be opened; if so, it counts from now on, until opened(),
    // open_failed() or open_abandoned().
    bool should_open(clock::time_point now);
    void opened();
    void open_failed(clock::time_point now);
    void open_abandoned() { --opening_; }

    // For the pool's own questions, which must be asked even while callers are refused: an idle connection,
    // and, if there is none that could become idle, the right to open one.
    bool take_idle_for_pool();
    bool should_open_for_pool(clock::time_point now);

    // The database does not reply in time: idle connections are closed, and all callers are refused until the
    // pool itself has got an answer. Otherwise each caller would run into the timeout in turn.
    void went_silent();
    void answered() { silent_ = false; }
    bool silent() const { return silent_; }

    // A connection was returned: idle again, set aside for a rollback, or closed.
    void returned_idle(const purpose& why);
    void returned_dirty(const purpose& why);
    void lost(const purpose& why);
    void cleaned();
    void closed_dirty() { --dirty_; }
    void idle_lost() { --idle_; }
    void all_idle_lost() { idle_ = 0; }

    // Closed connections whose backends still run: they count, so that a database that finishes nothing does
    // not get one connection after another.
    void abandoned(std::size_t backends) { abandoned_ = static_cast<unsigned>(backends); }

    unsigned in_use() const { return small_.held() + large_.held(); }
    unsigned idle() const { return idle_; }
    unsigned opening() const { return opening_; }
    std::size_t waiting() const { return small_.size() + large_.size(); }
    bool down(clock::time_point now) const { return silent_ || (now < retry_at_ && alive() == 0); }
    clock::time_point retry_at() const { return retry_at_; }
    unsigned large_limit() const;
    // Connections that are or will be usable.
    unsigned alive() const { return in_use() + idle_ + dirty_ + opening_; }

private:
    // One connection is left for the pool itself, to find out when they have ended.
    bool all_abandoned() const { return abandoned_ > 0 && abandoned_ + 1 >= limits_.connections; }
    bool may_start(lane in) const { return in == lane::small || large_.held() < large_limit(); }
    bool is_full(const purpose& why) const;
    std::size_t servable() const;
    fair_queue& queue(lane in) { return in == lane::large ? large_ : small_; }
    const fair_queue& queue(lane in) const { return in == lane::large ? large_ : small_; }
    std::optional<served> refuse_one(verdict what);

    limits limits_;
    fair_queue small_;
    fair_queue large_;
    unsigned idle_ = 0;
    unsigned dirty_ = 0;
    unsigned opening_ = 0;
    unsigned abandoned_ = 0;
    bool silent_ = false;
    std::chrono::milliseconds backoff_{0};
    clock::time_point retry_at_{};
};

}  // namespace restante::pq
