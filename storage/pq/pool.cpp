#include "storage/pq/pool.hpp"

#include "core/deadline.hpp"
#include "core/log.hpp"
#include "storage/pq/session_check.hpp"
#include "storage/pq/transaction.hpp"

namespace restante::pq {

namespace {

constexpr auto health_interval = std::chrono::seconds(1);
constexpr auto rollback_limit = std::chrono::seconds(2);
constexpr auto health_limit = std::chrono::seconds(2);

}  // namespace

lease::lease(connection_pool& from, std::unique_ptr<connection> borrowed, lane in)
    : from_(&from), borrowed_(std::move(borrowed)), in_(in)
{
}

lease::lease(lease&&) noexcept = default;

lease::~lease()
{
    if (borrowed_)
        from_->give_back(std::move(borrowed_), in_);
}

struct connection_pool::waiter {
    explicit waiter(executor ex) : timer(ex) {}
    steady_timer timer;
    std::optional<pool_node::verdict> verdict;
};

connection_pool::connection_pool(executor ex, pool_options options)
    : ex_(ex),
      options_(std::move(options)),
      node_(pool_node::limits{.connections = options_.connections, .waiters = options_.waiters}),
      wake_(ex)
{
}

connection_pool::~connection_pool() = default;

awaitable<result<lease>> connection_pool::acquire(lane in)
{
    if (stopped_)
        co_return RESTANTE_ERROR(errc::shutting_down);
    const auto ticket = next_ticket_++;
    auto verdict = node_.ask(in, ticket, pool_node::clock::now());
    if (verdict == pool_node::verdict::wait) {
        auto waited = co_await wait_in_queue(ticket, in);
        if (!waited)
            co_return waited.error();
        verdict = *waited;
    }
    switch (verdict) {
        case pool_node::verdict::take_idle: {
            auto taken = std::move(idle_.back());
            idle_.pop_back();
            if (!taken->closed_by_server())
                co_return lease(*this, std::move(taken), in);
            taken.reset();
            co_return co_await open(in);
        }
        case pool_node::verdict::open: co_return co_await open(in);
        case pool_node::verdict::refuse_down: co_return RESTANTE_ERROR(errc::database_unavailable);
        default: co_return RESTANTE_ERROR(errc::database_busy);
    }
}

awaitable<result<pool_node::verdict>> connection_pool::wait_in_queue(pool_node::ticket ticket, lane in)
{
    waiter self(ex_);
    waiters_.emplace(ticket, &self);
    self.timer.expires_after(in == lane::large ? options_.large_wait_limit : options_.wait_limit);
    co_await self.timer.async_wait(use_tuple);
    if (!self.verdict && !stopped_ && stood_still_since(self.timer.expiry())) {
        self.timer.expires_after(second_chance);
        co_await self.timer.async_wait(use_tuple);
    }
    waiters_.erase(ticket);
    if (self.verdict)
        co_return *self.verdict;
    node_.leave(ticket);
    co_return RESTANTE_ERROR(stopped_ ? errc::shutting_down : errc::database_busy);
}

awaitable<result<lease>> connection_pool::open(lane in)
{
    // The slot is ours from here on: the node must learn the outcome in every case, even if this coroutine is
    // destroyed midway.
    struct slot {
        connection_pool& pool;
        lane in;
        bool settled = false;
        ~slot()
        {
            if (!settled)
                pool.node_.lost(in);
        }
    } held{*this, in};

    std::string why;
    auto opened = co_await connection::open(options_.connect, &why);
    error_code failure;
    if (opened)
        failure = co_await check_session(**opened, why);
    else
        failure = opened.error();

    held.settled = true;
    if (failure) {
        if (why != last_error_)
            log_line(log_level::warn, "database_unavailable").field("reason", why);
        ready_ = false;
        last_error_ = why.empty() ? failure.message() : why;
        node_.open_failed(in, pool_node::clock::now());
        if (failure == errc::database_timeout)
            fall_silent();
        serve_waiters();
        if (failure == errc::database_unsafe)
            co_return failure;
        co_return RESTANTE_ERROR(errc::database_unavailable);
    }
    ++connects_;
    ready_ = true;
    last_error_.clear();
    node_.opened();
    serve_waiters();
    co_return lease(*this, std::move(*opened), in);
}

void connection_pool::give_back(std::unique_ptr<connection> borrowed, lane in)
{
    if (borrowed->fell_silent()) {
        silent_.push_back(borrowed->backend_pid());
        wake_.cancel();
    }
    if (borrowed->take_lock_timeout()) {
        blocked_ = true;
        wake_.cancel();
    }
    if (stopped_ || borrowed->broken() || borrowed->busy() || borrowed->outgrown()) {
        borrowed.reset();
        node_.lost(in);
    } else if (borrowed->in_transaction()) {
        dirty_.push_back(std::move(borrowed));
        node_.returned_dirty(in);
        wake_.cancel();
    } else {
        idle_.push_back(std::move(borrowed));
        node_.returned_idle(in);
    }
    serve_waiters();
}

void connection_pool::serve_waiters()
{
    while (const auto next = node_.serve(pool_node::clock::now())) {
        const auto found = waiters_.find(next->who);
        found->second->verdict = next->what;
        found->second->timer.cancel();
    }
}

awaitable<void> connection_pool::roll_back(std::unique_ptr<connection> dirty)
{
    static const statement rollback{"rollback", "ROLLBACK"};
    dirty->io_timeout(rollback_limit);
    auto done = co_await dirty->execute(rollback);
    dirty->io_timeout(options_.connect.io_timeout);
    if (done && !stopped_) {
        idle_.push_back(std::move(dirty));
        node_.cleaned();
    } else {
        dirty.reset();
        node_.closed_dirty();
    }
    serve_waiters();
}

awaitable<result<void>> connection_pool::end_session(int backend_pid)
{
    // By now the transaction is seconds old; a younger one belongs to a new backend that reuses the pid.
    static const statement terminate{
        "terminate_silent",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1::int4 AND "
        "usename = current_user AND xact_start < now() - interval '1 second'"};
    const parameters with(static_cast<std::int32_t>(backend_pid));
    auto done = co_await execute(terminate, with);
    if (!done)
        co_return done.error();
    co_return result<void>();
}

awaitable<result<void>> connection_pool::end_stuck_sessions()
{
    // COPY is in ClientRead between any two pieces, and statement_timeout ends it.
    static const statement terminate{
        "terminate_stuck",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
        "datname = current_database() AND usename = current_user AND state = 'active' AND "
        "wait_event = 'ClientRead' AND query_start < now() - interval '4 seconds' AND "
        "query NOT ILIKE '%copy %'"};
    auto done = co_await execute(terminate);
    if (!done)
        co_return done.error();
    if (done->size() > 0)
        log_line(log_level::warn, "stuck_sessions_ended").field("count", done->size());
    co_return result<void>();
}

// Probes an idle connection, or tries to open the first one; /readyz reports the result.
awaitable<void> connection_pool::look_after_health()
{
    if (node_.silent()) {
        node_.opening_unasked();
        const auto opened = co_await open(lane::small);
        co_return;
    }
    if (node_.idle() == 0 && node_.in_use() > 0)
        co_return;
    static const statement ask{"are_you_there", "SELECT 1"};
    auto probe = co_await acquire();
    if (!probe)
        co_return;
    connection& session = **probe;
    session.io_timeout(health_limit);
    const auto answer = co_await session.execute(ask);
    session.io_timeout(options_.connect.io_timeout);
    ready_ = ready_ || answer.has_value();
    if (!session.fell_silent())
        co_return;
    log_line(log_level::warn, "database_unavailable").field("reason", "no answer in time");
    ready_ = false;
    last_error_ = "no answer in time";
    fall_silent();
    serve_waiters();
}

void connection_pool::fall_silent()
{
    // idle_ may hold more than the node counts: the others are granted to waiters that have not resumed yet.
    idle_.resize(idle_.size() - node_.idle());
    node_.went_silent();
}

awaitable<void> connection_pool::run()
{
    while (!stopped_) {
        while (!dirty_.empty()) {
            auto next = std::move(dirty_.back());
            dirty_.pop_back();
            co_await roll_back(std::move(next));
        }
        co_await look_after_health();
        while (!silent_.empty() && ready_) {
            const int backend = silent_.back();
            if (!co_await end_session(backend))
                break;
            std::erase(silent_, backend);
        }
        if (blocked_ && ready_) {
            const auto ended = co_await end_stuck_sessions();
            blocked_ = !ended;
        }
        const auto now = pool_node::clock::now();
        wake_.expires_at(
            std::clamp(node_.retry_at(), now + std::chrono::milliseconds(20), now + health_interval));
        if (node_.retry_at() <= now)
            wake_.expires_after(health_interval);
        if (stopped_ || !dirty_.empty())
            continue;
        co_await wake_.async_wait(use_tuple);
        serve_waiters();
    }
    idle_.clear();
    dirty_.clear();
}

void connection_pool::stop()
{
    stopped_ = true;
    wake_.cancel();
    for (auto& [ticket, waiting] : waiters_)
        waiting->timer.cancel();
}

awaitable<result<transaction>> connection_pool::begin(lane in)
{
    auto borrowed = co_await acquire(in);
    if (!borrowed)
        co_return borrowed.error();
    co_return transaction(std::move(*borrowed));
}

awaitable<result<result_set>> connection_pool::execute(const statement& what, const parameters& with)
{
    auto borrowed = co_await acquire();
    if (!borrowed)
        co_return borrowed.error();
    co_return co_await (*borrowed)->execute(what, with);
}

awaitable<result<result_set>> connection_pool::execute_within(std::chrono::milliseconds limit,
                                                              const statement& what, const parameters& with)
{
    auto borrowed = co_await acquire();
    if (!borrowed)
        co_return borrowed.error();
    connection& session = **borrowed;
    session.io_timeout(limit);
    auto answer = co_await session.execute(what, with);
    session.io_timeout(options_.connect.io_timeout);
    co_return answer;
}

awaitable<result<result_set>> connection_pool::execute(const statement& what)
{
    parameters none;
    co_return co_await execute(what, none);
}

pool_status connection_pool::status() const
{
    return {.in_use = node_.in_use(),
            .idle = node_.idle(),
            .waiting = node_.waiting(),
            .reconnects = connects_,
            .ready = ready_,
            .last_error = last_error_};
}

}  // namespace restante::pq
