#pragma once

#include "core/asio.hpp"
#include "core/deadline.hpp"
#include "core/error.hpp"
#include "storage/pq/parameter.hpp"
#include "storage/pq/result.hpp"
#include "storage/statement.hpp"

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
    // How the session is called in pg_stat_activity, unless conninfo names it.
    std::string application_name = "restante";
    // A request may wait for it, and is owed an answer within two seconds.
    std::chrono::milliseconds connect_timeout = std::chrono::milliseconds(1500);
    // How long one wait for the server may last: longer than lock_timeout, so that a wait for a lock ends
    // with an answer, and short enough to find out what became of a lost COMMIT within the 10 s that a client
    // is promised.
    std::chrono::milliseconds io_timeout = std::chrono::seconds(6);
    // Sent with the start-up packet, so that they cost no round trip.
    //
    // The second line holds plans still. Our statements are few, prepared, and made for one way along one
    // index each: planning them anew for every set of values costs as much as running them, and a plan that
    // was made while a table was small (read all of it, or a bitmap, then sort) would be kept until long
    // after it has grown.
    std::string session_settings =
        "-c statement_timeout=30s -c lock_timeout=5s -c idle_in_transaction_session_timeout=10s "
        "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_bitmapscan=off -c jit=off";
};

struct notification {
    std::string channel;
    std::string payload;
    int backend = 0;
};

// One session with PostgreSQL on libpq in non-blocking mode; every wait is Asio's. One operation at a time.
//
// A failure that PostgreSQL reports leaves the connection usable (inside a transaction it is then "in
// error"). Any other failure, a timeout or a cancelled wait breaks it for good: it can only be destroyed.
class connection {
public:
    // Fails with database_unavailable or database_timeout; *why, if given, receives libpq's sentence.
    static awaitable<result<std::unique_ptr<connection>>> open(connect_options options,
                                                               std::string* why = nullptr);

    ~connection();
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    // One statement, one round trip, prepared on first use.
    awaitable<result<result_set>> execute(const statement& what, const parameters& with);
    awaitable<result<result_set>> execute(const statement& what);

    // One or more statements of plain SQL text, without parameters; the last result.
    awaitable<result<result_set>> execute_script(const std::string& sql);

    // Waits for the next NOTIFY on a channel this session LISTENs to; no time limit.
    awaitable<result<notification>> next_notification();

    // Asks the server, over a connection of its own, to give up what this one runs.
    awaitable<void> cancel();

    bool broken() const { return broken_; }
    // Broken by silence. PostgreSQL may know nothing of it and keep the session's locks.
    bool fell_silent() const { return fell_silent_; }
    // An operation is half done: its coroutine was dropped before the answers were read.
    bool busy() const { return busy_; }
    bool in_transaction() const;
    // libpq keeps a buffer that has grown; past this the pool prefers a fresh connection.
    bool outgrown() const { return largest_ > 4u << 20; }
    // Finds out, without waiting, that the server has closed an idle connection.
    bool closed_by_server() const;
    // Whether it gave up waiting for a lock since this was last asked.
    bool take_lock_timeout() { return std::exchange(lock_timeout_, false); }
    int backend_pid() const;

    // The SQLSTATE and sentence of the last failure.
    const std::string& last_sqlstate() const { return last_sqlstate_; }
    const std::string& last_message() const { return last_message_; }
    void io_timeout(std::chrono::milliseconds limit) { options_.io_timeout = limit; }

private:
    friend class pipeline;
    friend class copy_in;

    connection(executor ex, connect_options options);

    awaitable<error_code> handshake();
    awaitable<error_code> wait_until(asio::posix::descriptor_base::wait_type what);
    awaitable<error_code> wait_either();
    awaitable<error_code> flush();
    awaitable<result<pg_result*>> get_result();
    // A result as ours: a failure reported by the server becomes its errc and is remembered.
    result<result_set> accept(pg_result* owned, const char* name);
    void note_failure(const pg_result* failed, const char* name);
    error_code break_down(errc reason);
    void watch_socket();

    executor ex_;
    connect_options options_;
    pg_conn* handle_ = nullptr;
    asio::posix::basic_stream_descriptor<executor> socket_;
    deadline deadline_;
    std::unordered_set<std::string_view> prepared_;
    std::string last_sqlstate_;
    std::string last_message_;
    std::size_t largest_ = 0;
    bool busy_ = false;
    bool broken_ = false;
    bool fell_silent_ = false;
    bool lock_timeout_ = false;
};

}  // namespace restante::pq
