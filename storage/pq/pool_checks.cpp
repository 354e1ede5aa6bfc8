// What the pool finds out every second: whether the database answers and is safe, and what became of sessions
// that it gave up.
#include "core/log.hpp"
#include "storage/pq/pool.hpp"
#include "storage/pq/session_check.hpp"

#include <algorithm>

namespace restante::pq {

namespace {

constexpr auto health_limit = std::chrono::seconds(2);

// A backend that is ended while its commit waits for a synchronous standby makes the commit visible, although
// no standby has it. So with such standbys only those are ended that wait for their client, which is us; the
// others will end by themselves.
#define MAY_BE_ENDED                             \
    "wait_event IS DISTINCT FROM 'SyncRep' AND " \
    "(wait_event_type = 'Client' OR current_setting('synchronous_standby_names') = '')"

// The transaction is seconds old by now; a younger one belongs to a new backend that reuses the pid.
#define IN_ITS_TRANSACTION "usename = current_user AND xact_start < now() - interval '1 second'"

const statement end_one{"end_session",
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1::int4 "
                        "AND " IN_ITS_TRANSACTION " AND " MAY_BE_ENDED};

const statement end_those{"end_abandoned_sessions",
                          "SELECT pid, CASE WHEN " MAY_BE_ENDED
                          " THEN pg_terminate_backend(pid) ELSE false END "
                          "FROM pg_stat_activity WHERE pid = ANY ($1::int4[]) AND " IN_ITS_TRANSACTION};

// Sessions that stalled in the middle of a transaction's single flush, holding its locks. Their client is
// frozen or disconnected and cannot do it, and between two messages of a flush PostgreSQL considers a session
// neither idle nor subject to a timeout. COPY is in ClientRead between any two pieces, and statement_timeout
// ends it.
const statement end_stuck{"end_stuck_sessions",
                          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
                          "datname = current_database() AND usename = current_user AND state = 'active' AND "
                          "wait_event = 'ClientRead' AND query_start < now() - interval '4 seconds' AND "
                          "query NOT ILIKE '%copy %'"};

}  // namespace

awaitable<void> connection_pool::look_after_sessions()
{
    struct mark {
        bool& set;
        ~mark() { set = false; }
    } const busy{checking_};
    checking_ = true;

    auto borrowed = co_await borrow_for_checks();
    if (!borrowed)
        co_return;
    connection& session = **borrowed;
    session.io_timeout(health_limit);
    if (co_await check_health(session)) {
        if (!abandoned_.empty())
            co_await end_abandoned(session);
        if (std::exchange(blocked_, false))
            co_await end_stuck_sessions(session);
    }
    session.io_timeout(options_.connect.io_timeout);
}

awaitable<result<lease>> connection_pool::borrow_for_checks()
{
    drop_closed_idle();
    if (state_.take_idle_for_pool())
        co_return take_idle({});
    if (state_.should_open_for_pool(pool_state::clock::now()))
        spawn_opening();
    else if (!unsafe_ && state_.in_use() > 0)
        co_return co_await acquire();
    co_return RESTANTE_ERROR(errc::database_busy);
}

awaitable<bool> connection_pool::check_health(connection& session)
{
    const auto verdict = co_await check_session(session);
    if (!verdict) {
        if (session.fell_silent())
            fall_silent("no answer in time");
        co_return false;
    }
    if (!verdict->fault.empty()) {
        if (verdict->primary_elsewhere)
            session.give_up();
        set_unsafe(*verdict);
        co_return false;
    }
    state_.answered();
    set_safe(*verdict);
    co_return true;
}

awaitable<result<void>> connection_pool::end_session(int backend_pid)
{
    const parameters with(static_cast<std::int32_t>(backend_pid));
    auto done = co_await execute(end_one, with);
    if (!done)
        co_return done.error();
    co_return result<void>();
}

awaitable<void> connection_pool::end_abandoned(connection& session)
{
    const auto asked = abandoned_;
    const parameters with(std::span<const std::int32_t>{asked});
    auto found = co_await session.execute(end_those, with);
    if (!found)
        co_return;
    std::vector<std::int32_t> alive;
    for (int i = 0; i < found->size(); ++i) {
        const auto values = (*found)[i].as<std::int32_t, bool>();
        if (values && !std::get<1>(*values))
            alive.push_back(std::get<0>(*values));
    }
    std::erase_if(abandoned_, [&](std::int32_t pid) {
        return std::ranges::find(asked, pid) != asked.end() && std::ranges::find(alive, pid) == alive.end();
    });
    state_.abandoned(abandoned_.size());
    serve_waiters();
}

awaitable<void> connection_pool::end_stuck_sessions(connection& session)
{
    const auto ended = co_await session.execute(end_stuck);
    if (!ended)
        blocked_ = true;
    else if (ended->size() > 0)
        log_line(log_level::warn, "stuck_sessions_ended").field("count", ended->size());
}

// While commits wait for a standby, files can still be fetched: callers are served, and /readyz tells.
void connection_pool::set_safe(const session_verdict& verdict)
{
    unsafe_ = false;
    if (!verdict.wait.empty())
        return set_unready(verdict.wait);
    ready_ = true;
    last_error_.clear();
}

void connection_pool::set_unready(const std::string& why)
{
    if (ready_ || why != last_error_)
        log_line(log_level::warn, options_.log_as).field("reason", why);
    ready_ = false;
    last_error_ = why;
}

// From now on every caller is refused, until a check finds the database safe again.
//
// Idle sessions of a server that is not the primary are closed: asking them again would keep the pool from
// looking for the primary.
void connection_pool::set_unsafe(const session_verdict& verdict)
{
    set_unready(verdict.fault);
    unsafe_ = true;
    options_.connect.try_first = {};
    if (verdict.primary_elsewhere) {
        idle_.clear();
        state_.all_idle_lost();
    }
    refuse_waiters();
}

void connection_pool::fall_silent(const std::string& why)
{
    set_unready(why);
    idle_.clear();
    state_.went_silent();
    serve_waiters();
}

}  // namespace restante::pq
