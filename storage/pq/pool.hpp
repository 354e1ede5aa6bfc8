#pragma once

#include "core/asio.hpp"
#include "storage/pq/connection.hpp"
#include "storage/pq/pool_node.hpp"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace restante::pq {

class connection_pool;
class transaction;

// A borrowed connection. Its destructor returns it to the pool, in whatever state it is: the pool keeps a
// clean one, rolls back an open transaction and closes a broken or half-used one.
class lease {
public:
    lease(connection_pool& from, std::unique_ptr<connection> borrowed, lane in);
    ~lease();
    lease(lease&&) noexcept;
    lease& operator=(lease&&) = delete;

    connection& operator*() const { return *borrowed_; }
    connection* operator->() const { return borrowed_.get(); }

private:
    connection_pool* from_;
    std::unique_ptr<connection> borrowed_;
    lane in_;
};

struct pool_options {
    connect_options connect;
    unsigned connections = 4;
    unsigned waiters = 1024;
    std::chrono::milliseconds wait_limit = std::chrono::milliseconds(1500);
    // Large requests have few connections and take a second each; a client that has already sent 25 MB would
    // rather wait.
    std::chrono::milliseconds large_wait_limit = std::chrono::seconds(60);
};

struct pool_status {
    unsigned in_use = 0;
    unsigned idle = 0;
    std::size_t waiting = 0;
    std::uint64_t reconnects = 0;
    bool ready = false;
    std::string last_error;  // why it is not ready, as a sentence
};

// The connections of one shard. acquire() fails with database_unavailable (cannot connect), database_unsafe
// (connected, but PostgreSQL would lose or refuse our commits), database_busy (all in use for wait_limit, or
// too many waiting) or shutting_down.
class connection_pool {
public:
    connection_pool(executor ex, pool_options options);
    ~connection_pool();

    // Keeps a connection open, reconnects while the database is unavailable, rolls back dirty connections.
    // Ends after stop().
    awaitable<void> run();
    void stop();

    awaitable<result<lease>> acquire(lane in = lane::small);
    awaitable<result<transaction>> begin(lane in = lane::small);

    // One statement on any connection.
    awaitable<result<result_set>> execute(const statement& what, const parameters& with);
    awaitable<result<result_set>> execute(const statement& what);
    // The same for statements that return at once or not at all: a connection without a reply within the
    // limit is given up.
    awaitable<result<result_set>> execute_within(std::chrono::milliseconds limit, const statement& what,
                                                 const parameters& with);

    // Terminates, from another connection, the session of one that timed out in a transaction. A backend
    // behind a dead network path notices nothing and would hold its locks until the kernel's timeout, which
    // takes hours.
    awaitable<result<void>> end_session(int backend_pid);

    // Terminates sessions that stalled in the middle of a transaction's single flush, holding its locks.
    // Their client is frozen or disconnected and cannot do it, and between two messages of a flush PostgreSQL
    // considers a session neither idle nor subject to a timeout. Called after a lock timeout.
    awaitable<result<void>> end_stuck_sessions();

    pool_status status() const;
    const connect_options& connect_settings() const { return options_.connect; }

private:
    friend class lease;
    struct waiter;

    awaitable<result<lease>> open(lane in);
    awaitable<result<pool_node::verdict>> wait_in_queue(pool_node::ticket ticket, lane in);
    awaitable<void> look_after_health();
    void fall_silent();
    awaitable<void> roll_back(std::unique_ptr<connection> dirty);
    void give_back(std::unique_ptr<connection> borrowed, lane in);
    void serve_waiters();

    executor ex_;
    pool_options options_;
    pool_node node_;
    std::vector<std::unique_ptr<connection>> idle_;
    std::vector<std::unique_ptr<connection>> dirty_;
    std::vector<int> silent_;  // backends of closed connections that had timed out
    std::unordered_map<pool_node::ticket, waiter*> waiters_;
    pool_node::ticket next_ticket_ = 1;
    steady_timer wake_;
    std::string last_error_ = "not connected yet";
    std::uint64_t connects_ = 0;
    bool ready_ = false;
    bool blocked_ = false;  // a lock timeout occurred
    bool stopped_ = false;
};

}  // namespace restante::pq
