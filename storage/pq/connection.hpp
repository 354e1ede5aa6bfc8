#pragma once

#include "core/asio.hpp"
#include "core/deadline.hpp"
#include "core/error.hpp"
#include "storage/pq/conninfo.hpp"
#include "storage/pq/newest_timeline.hpp"
#include "storage/pq/parameter.hpp"
#include "storage/pq/result.hpp"
#include "storage/pq/session_facts.hpp"
#include "storage/pq/statement.hpp"

#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

struct pg_conn;

namespace restante::pq {

struct connect_options {
    std::string conninfo;
    // The session's name in pg_stat_activity, unless conninfo sets one.
    std::string application_name = "restante";
    // For each address that is tried. A request may wait for it, and must be answered within two seconds.
    std::chrono::milliseconds connect_timeout = std::chrono::milliseconds(1500);
    // Timeout of a single wait for the server: longer than lock_timeout, so that a lock wait ends with a
    // reply, and short enough to determine the outcome of a lost COMMIT within the 10 s that clients are
    // promised.
    std::chrono::milliseconds io_timeout = std::chrono::seconds(6);
    // Of several addresses, the one that worked last time.
    server_address try_first = {};
    // After which PostgreSQL itself ends a statement.
    std::chrono::milliseconds statement_timeout = std::chrono::seconds(30);
    // What the other side has to be. Anything else is unsafe; of several addresses, the next one is tried.
    session_role role = session_role::primary;
    // A session is unsafe unless its commits wait for a standby.
    bool require_synchronous = false;
    // Of all sessions of this process; without it, a former primary is not told from the present one.
    std::shared_ptr<newest_timeline> timelines = {};
};

struct notification {
    std::string channel;
    std::string payload;
    int backend = 0;
};

// One PostgreSQL session on libpq in non-blocking mode; every wait is Asio's. One operation at a time.
//
// An error that PostgreSQL reports leaves the connection usable (inside a transaction it is then "in error").
// Any other failure, a timeout or a cancelled wait breaks it for good: it can only be destroyed.
//
// A commit that no standby may have, although PostgreSQL reports success, fails with commit_outcome_unknown:
// somebody cancelled its wait for synchronous replication, or the cluster stopped being synchronous during a
// statement that is `promised`.
class connection {
public:
    // Tries every address of every host; one that is slow to answer does not hold up the next
    // (storage/pq/address_race). Fails with database_unavailable, database_timeout (no address answered in
    // time), database_unsafe (a pooler that shares sessions) or bad_setting; *why, if given, receives what is
    // wrong with each of them. Of several addresses none may be the primary at the moment, which is
    // database_unavailable; a single one is opened, and its verdict() says so.
    static awaitable<result<std::unique_ptr<connection>>> open(connect_options options,
                                                               std::string* why = nullptr);

    ~connection();
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    // One statement, one round trip, prepared on first use.
    awaitable<result<result_set>> execute(const statement& what, const parameters& with);
    awaitable<result<result_set>> execute(const statement& what);

    // One or more statements of plain SQL text, without parameters; returns the last result.
    awaitable<result<result_set>> execute_script(const std::string& sql);

    // Waits for the next NOTIFY on a channel this session LISTENs to; no timeout.
    awaitable<result<notification>> next_notification();

    // Asks the server, over a separate connection, to cancel the running statement.
    awaitable<void> cancel();

    bool broken() const { return broken_; }
    // Broken by a timeout. PostgreSQL may not have noticed and may keep the session's locks.
    bool fell_silent() const { return fell_silent_; }
    // An operation is incomplete: its coroutine was destroyed before the results were read.
    bool busy() const { return busy_; }
    bool in_transaction() const;
    // libpq never shrinks its buffers. Beyond 4 MiB the pool prefers a new connection at once, and beyond
    // 256 KiB it closes an idle one that has not needed such buffers since `when`.
    bool outgrown() const { return largest_ > 4u << 20; }
    bool grown_and_unused_since(std::chrono::steady_clock::time_point when) const
    {
        return largest_ > largest_kept && last_large_ < when;
    }
    // Checks, without waiting, whether the server has closed an idle connection.
    bool closed_by_server() const;
    // Whether a lock timeout occurred since the last call.
    bool take_lock_timeout() { return std::exchange(lock_timeout_, false); }
    // PostgreSQL has made transactions read-only: another connection may lead to the new primary.
    bool became_read_only() const { return became_read_only_; }
    void give_up() { became_read_only_ = true; }
    // PostgreSQL's own number of the session; a pooler gives another one to libpq.
    int backend_pid() const { return backend_pid_; }
    bool through_a_pooler() const;
    const server_address& address() const { return address_; }
    // The `options` of the connection string.
    const std::string& operator_options() const { return operator_options_; }

    // Whether a commit on this session could be lost or is impossible, as found on opening it.
    const session_verdict& verdict() const { return verdict_; }
    void begun(int backend_pid, session_verdict verdict);

    // It leads to a primary that has been replaced.
    bool outdated() const { return options_.timelines && options_.timelines->is_older(timeline_); }
    void met_timeline(const timeline_id& timeline) { timeline_ = timeline; }
    const connect_options& options() const { return options_; }

    // The SQLSTATE and message of the last failure.
    const std::string& last_sqlstate() const { return last_sqlstate_; }
    const std::string& last_message() const { return last_message_; }
    void io_timeout(std::chrono::milliseconds limit) { options_.io_timeout = limit; }
    // However much arrives meanwhile, everything from now on must be done by then; deadline::clock's largest
    // value ends that.
    void finish_by(deadline::clock::time_point when) { finish_by_ = when; }

private:
    friend class pipeline;
    friend class copy_in;

    static constexpr std::size_t largest_kept = 256 * 1024;

    connection(executor ex, connect_options options);

    friend class address_race;
    static awaitable<result<std::unique_ptr<connection>>> open_at(server_address where, conninfo info,
                                                                  connect_options options, std::string& why);
    awaitable<error_code> handshake();
    awaitable<error_code> wait_until(asio::posix::descriptor_base::wait_type what);
    awaitable<error_code> wait_either();
    awaitable<error_code> flush();
    awaitable<result<pg_result*>> get_result();
    // Wraps a result: an error reported by the server becomes its errc and is recorded.
    result<result_set> accept(pg_result* owned, const char* name);
    void note_failure(const pg_result* failed, const char* name);
    static void receive_notice(void* self, const pg_result* notice);
    void note_size(std::size_t bytes);
    error_code break_down(errc reason);
    void start_wait();
    void watch_socket();

    executor ex_;
    connect_options options_;
    pg_conn* handle_ = nullptr;
    asio::posix::basic_stream_descriptor<executor> socket_;
    deadline deadline_;
    deadline::clock::time_point finish_by_ = deadline::clock::time_point::max();
    std::unordered_set<std::string_view> prepared_;
    server_address address_;
    std::string operator_options_;
    session_verdict verdict_;
    timeline_id timeline_;
    int backend_pid_ = 0;
    std::string last_sqlstate_;
    std::string last_message_;
    std::size_t largest_ = 0;  // what the buffers had to hold
    std::chrono::steady_clock::time_point last_large_{};
    bool busy_ = false;
    bool broken_ = false;
    bool fell_silent_ = false;
    bool lock_timeout_ = false;
    bool became_read_only_ = false;
    bool standby_wait_cancelled_ = false;  // in the operation at hand
};

}  // namespace restante::pq
