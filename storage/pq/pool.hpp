#pragma once

#include "core/asio.hpp"
#include "core/task_group.hpp"
#include "storage/pq/connection.hpp"
#include "storage/pq/pool_state.hpp"

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
    lease(connection_pool& from, std::unique_ptr<connection> borrowed, purpose why);
    ~lease();
    lease(lease&&) noexcept;
    lease& operator=(lease&&) = delete;

    connection& operator*() const { return *borrowed_; }
    connection* operator->() const { return borrowed_.get(); }

private:
    connection_pool* from_;
    std::unique_ptr<connection> borrowed_;
    purpose why_;
};

struct pool_options {
    connect_options connect;
    const char* log_as = "database_unavailable";  // the line that says why it is not ready
    unsigned connections = 4;
    unsigned waiters = 1024;      // of each lane
    unsigned waiters_each = 256;  // of one owner in a lane
    std::chrono::milliseconds wait_limit = std::chrono::milliseconds(1500);
    // Large requests have few connections and take a second each; a client that has already sent 25 MB would
    // rather wait.
    std::chrono::milliseconds large_wait_limit = std::chrono::seconds(60);
    // How long an idle connection keeps buffers that a large value has grown: the memory budget does not know
    // of them.
    std::chrono::milliseconds grown_lifetime = std::chrono::seconds(10);
};

struct pool_status {
    unsigned in_use = 0;
    unsigned idle = 0;
    std::size_t waiting = 0;
    std::uint64_t connects = 0;
    bool ready = false;      // it answers, is safe, and commits do not wait for a standby that is not there
    std::string last_error;  // why it is not ready, as a sentence
};

// The connections of one shard. acquire() fails with database_unavailable (cannot connect), database_unsafe
// (connected, but PostgreSQL would lose or refuse our commits), database_busy (all in use for wait_limit, or
// too many waiting) or shutting_down.
//
// Connections are opened in the background; a caller takes whichever is free first. An owner (a workspace;
// nil is the server itself) shares its lane fairly with the others, the places in its queue included.
class connection_pool {
public:
    connection_pool(executor ex, pool_options options);
    ~connection_pool();
    connection_pool(const connection_pool&) = delete;
    connection_pool& operator=(const connection_pool&) = delete;

    // Keeps a connection open, checks every second that the database answers and is safe, reconnects while it
    // is unavailable, rolls back dirty connections. Ends after stop().
    awaitable<void> run();
    void stop();

    awaitable<result<lease>> acquire(lane in = lane::small, uuid owner = {});
    awaitable<result<transaction>> begin(lane in = lane::small, uuid owner = {});

    // One statement on any connection. After a deadlock it is tried a second time: it was rolled back.
    awaitable<result<result_set>> execute(const statement& what, const parameters& with, uuid owner = {});
    awaitable<result<result_set>> execute(const statement& what);
    // The same for statements that return at once or not at all: a connection without a reply within the
    // limit is given up.
    awaitable<result<result_set>> execute_within(std::chrono::milliseconds limit, const statement& what,
                                                 const parameters& with);

    // Terminates, from another connection, the session of one that timed out in a transaction. A backend
    // behind a dead network path notices nothing and would hold its locks until the kernel's timeout, which
    // takes hours. A session that waits for a synchronous standby is left alone: ending it would make its
    // commit visible although no standby has it.
    awaitable<result<void>> end_session(int backend_pid);

    pool_status status() const;
    bool ready() const { return ready_; }
    unsigned most_connections() const { return options_.connections; }
    const connect_options& connect_settings() const { return options_.connect; }

private:
    friend class lease;
    class waiter;
    class opening;

    awaitable<result<lease>> wait_in_queue(purpose why, pool_state::ticket ticket);
    error_code refusal(pool_state::verdict what) const;
    lease take_idle(const purpose& why);
    void drop_closed_idle();
    void drop_grown_idle();
    void give_back(std::unique_ptr<connection> borrowed, const purpose& why);
    void serve_waiters();
    void refuse_waiters();

    void open_more();
    bool spawn_opening();
    static awaitable<void> open_one(std::shared_ptr<connection_pool*> home, connect_options options);
    void finish_opening(result<std::unique_ptr<connection>> opened, std::string why);

    awaitable<void> roll_back(std::unique_ptr<connection> dirty);
    awaitable<void> look_after_sessions();
    awaitable<result<lease>> borrow_for_checks();
    awaitable<bool> check_health(connection& session);
    awaitable<void> end_abandoned(connection& session);
    awaitable<void> end_stuck_sessions(connection& session);
    void set_safe(const session_verdict& verdict);
    void set_unready(const std::string& why);
    void set_unsafe(const session_verdict& verdict);
    void fall_silent(const std::string& why);

    executor ex_;
    pool_options options_;
    pool_state state_;
    std::vector<std::unique_ptr<connection>> idle_;
    std::vector<std::unique_ptr<connection>> dirty_;
    std::vector<std::int32_t> abandoned_;  // backends of closed connections that had timed out
    std::unordered_map<pool_state::ticket, waiter*> waiters_;
    pool_state::ticket next_ticket_ = 1;
    steady_timer wake_;
    task_group tasks_;                        // openings, rollbacks, checks
    std::shared_ptr<connection_pool*> home_;  // null for openings that outlive the pool
    std::string last_error_ = "not connected yet";
    std::uint64_t connects_ = 0;
    bool ready_ = false;
    bool unsafe_ = false;  // all callers are refused
    bool checking_ = false;
    bool blocked_ = false;  // a lock timeout occurred
    bool stopped_ = false;
};

}  // namespace restante::pq
