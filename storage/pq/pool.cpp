#include "storage/pq/pool.hpp"

#include "core/deadline.hpp"
#include "core/log.hpp"
#include "storage/pq/transaction.hpp"

namespace restante::pq {

namespace {

constexpr auto health_interval = std::chrono::seconds(1);
constexpr auto shortest_pause = std::chrono::milliseconds(20);
constexpr auto rollback_limit = std::chrono::seconds(2);
constexpr auto last_wait = std::chrono::seconds(2);

}  // namespace

lease::lease(connection_pool& from, std::unique_ptr<connection> borrowed, purpose why)
    : from_(&from), borrowed_(std::move(borrowed)), why_(why)
{
}

lease::lease(lease&&) noexcept = default;

lease::~lease()
{
    if (borrowed_)
        from_->give_back(std::move(borrowed_), why_);
}

// A place in the queue. However its coroutine ends, it leaves the queue, and a connection that was granted
// and not taken goes back.
class connection_pool::waiter {
public:
    waiter(connection_pool& home, pool_state::ticket ticket) : timer(home.ex_), home_(home), ticket_(ticket)
    {
        home_.waiters_.emplace(ticket_, this);
    }
    ~waiter()
    {
        if (home_.waiters_.erase(ticket_))
            home_.state_.leave(ticket_);
    }
    waiter(const waiter&) = delete;
    waiter& operator=(const waiter&) = delete;

    void grant(lease borrowed)
    {
        granted_.emplace(std::move(borrowed));
        timer.cancel();
    }
    void refuse(error_code why)
    {
        refused_ = why;
        timer.cancel();
    }
    bool settled() const { return granted_ || refused_; }
    result<lease> outcome()
    {
        if (granted_)
            return std::move(*granted_);
        return refused_;
    }

    steady_timer timer;

private:
    std::optional<lease> granted_;
    error_code refused_;
    connection_pool& home_;
    pool_state::ticket ticket_;
};

// A connection on its way. If its coroutine is destroyed midway, the node learns of it.
class connection_pool::opening {
public:
    explicit opening(std::shared_ptr<connection_pool*> home) : home_(std::move(home)) {}
    ~opening()
    {
        if (pool() && !finished_)
            pool()->state_.open_abandoned();
    }
    opening(const opening&) = delete;
    opening& operator=(const opening&) = delete;

    connection_pool* pool() const { return *home_; }
    void finished() { finished_ = true; }

private:
    std::shared_ptr<connection_pool*> home_;
    bool finished_ = false;
};

connection_pool::connection_pool(executor ex, pool_options options)
    : ex_(ex),
      options_(std::move(options)),
      state_(pool_state::limits{.connections = options_.connections,
                                .waiters = options_.waiters,
                                .waiters_each = options_.waiters_each}),
      wake_(ex),
      tasks_(ex),
      home_(std::make_shared<connection_pool*>(this))
{
}

connection_pool::~connection_pool()
{
    *home_ = nullptr;
}

error_code connection_pool::refusal(pool_state::verdict what) const
{
    if (unsafe_)
        return RESTANTE_ERROR(errc::database_unsafe);
    if (what == pool_state::verdict::refuse_down)
        return RESTANTE_ERROR(errc::database_unavailable);
    return RESTANTE_ERROR(errc::database_busy);
}

awaitable<result<lease>> connection_pool::acquire(lane in, uuid owner)
{
    if (stopped_)
        co_return RESTANTE_ERROR(errc::shutting_down);
    if (unsafe_)
        co_return RESTANTE_ERROR(errc::database_unsafe);
    const purpose why{in, owner};
    const auto ticket = next_ticket_++;
    drop_closed_idle();
    const auto verdict = state_.ask(why, ticket, pool_state::clock::now());
    if (verdict == pool_state::verdict::take_idle)
        co_return take_idle(why);
    if (verdict == pool_state::verdict::wait)
        co_return co_await wait_in_queue(why, ticket);
    co_return refusal(verdict);
}

awaitable<result<lease>> connection_pool::wait_in_queue(purpose why, pool_state::ticket ticket)
{
    waiter self(*this, ticket);
    self.timer.expires_after(why.in == lane::large ? options_.large_wait_limit : options_.wait_limit);
    open_more();  // which may fail at once
    if (!self.settled())
        co_await self.timer.async_wait(use_tuple);
    if (!self.settled() && !stopped_ && stood_still_since(self.timer.expiry())) {
        self.timer.expires_after(second_chance);
        co_await self.timer.async_wait(use_tuple);
    }
    if (self.settled())
        co_return self.outcome();
    if (stopped_)
        co_return RESTANTE_ERROR(errc::shutting_down);
    co_return refusal(ready_ ? pool_state::verdict::refuse_full : pool_state::verdict::refuse_down);
}

// The node hands out the last of idle_.
void connection_pool::drop_closed_idle()
{
    while (!idle_.empty() && (idle_.back()->outdated() || idle_.back()->closed_by_server())) {
        idle_.pop_back();
        state_.idle_lost();
    }
}

void connection_pool::drop_grown_idle()
{
    const auto since = pool_state::clock::now() - options_.grown_lifetime;
    const auto dropped = std::erase_if(
        idle_, [&](const std::unique_ptr<connection>& each) { return each->grown_and_unused_since(since); });
    for (std::size_t i = 0; i < dropped; ++i)
        state_.idle_lost();
}

lease connection_pool::take_idle(const purpose& why)
{
    auto taken = std::move(idle_.back());
    idle_.pop_back();
    return lease(*this, std::move(taken), why);
}

void connection_pool::serve_waiters()
{
    for (;;) {
        drop_closed_idle();
        const auto next = state_.serve(pool_state::clock::now());
        if (!next)
            break;
        const auto found = waiters_.find(next->who);
        if (found == waiters_.end()) {  // there was no memory to wait
            if (next->what == pool_state::verdict::take_idle)
                state_.returned_idle(next->used_for);
            continue;
        }
        waiter& served = *found->second;
        waiters_.erase(found);
        if (next->what == pool_state::verdict::take_idle)
            served.grant(take_idle(next->used_for));
        else
            served.refuse(refusal(next->what));
    }
    open_more();
}

void connection_pool::refuse_waiters()
{
    for (auto& [ticket, waiting] : std::exchange(waiters_, {})) {
        state_.leave(ticket);
        waiting->refuse(refusal(pool_state::verdict::refuse_down));
    }
}

void connection_pool::open_more()
{
    bool started = true;
    while (started && !stopped_ && state_.should_open(pool_state::clock::now()))
        started = spawn_opening();
}

bool connection_pool::spawn_opening()
try {
    tasks_.spawn("pool_open", open_one(home_, options_.connect));
    return true;
} catch (const std::bad_alloc&) {
    // Connections are also returned by destructors, which must not throw.
    state_.open_abandoned();
    return false;
}

awaitable<void> connection_pool::open_one(std::shared_ptr<connection_pool*> home, connect_options options)
{
    opening self(std::move(home));
    std::string why;
    auto opened = co_await connection::open(std::move(options), &why);
    if (!self.pool())
        co_return;
    self.finished();
    self.pool()->finish_opening(std::move(opened), std::move(why));
}

void connection_pool::finish_opening(result<std::unique_ptr<connection>> opened, std::string why)
{
    if (stopped_)
        return state_.open_abandoned();
    if (opened && (*opened)->verdict().fault.empty()) {
        ++connects_;
        options_.connect.try_first = (*opened)->address();
        set_safe((*opened)->verdict());
        idle_.push_back(std::move(*opened));
        state_.opened();
        if (!abandoned_.empty())
            wake_.cancel();
        serve_waiters();
        return;
    }
    state_.open_failed(pool_state::clock::now());
    if (opened)
        set_unsafe((*opened)->verdict());
    else if (opened.error() == errc::database_unsafe)
        set_unsafe({.fault = why});
    else if (opened.error() == errc::database_timeout)
        fall_silent(why);
    else if (state_.alive() == 0)
        set_unready(why.empty() ? opened.error().message() : why);
    serve_waiters();
}

void connection_pool::give_back(std::unique_ptr<connection> borrowed, const purpose& why)
{
    blocked_ = borrowed->take_lock_timeout() || blocked_;
    const bool check_now = blocked_ || borrowed->fell_silent() || borrowed->became_read_only();
    if (borrowed->fell_silent()) {
        abandoned_.push_back(borrowed->backend_pid());
        state_.abandoned(abandoned_.size());
    }
    if (stopped_ || borrowed->broken() || borrowed->busy() || borrowed->outgrown() ||
        borrowed->became_read_only() || borrowed->outdated()) {
        borrowed.reset();
        state_.lost(why);
    } else if (borrowed->in_transaction()) {
        dirty_.push_back(std::move(borrowed));
        state_.returned_dirty(why);
    } else {
        idle_.push_back(std::move(borrowed));
        state_.returned_idle(why);
    }
    if (check_now || !dirty_.empty())
        wake_.cancel();
    serve_waiters();
}

awaitable<void> connection_pool::roll_back(std::unique_ptr<connection> dirty)
{
    static const statement rollback{"rollback", "ROLLBACK"};
    dirty->io_timeout(rollback_limit);
    auto done = co_await dirty->execute(rollback);
    dirty->io_timeout(options_.connect.io_timeout);
    if (done && !stopped_) {
        idle_.push_back(std::move(dirty));
        state_.cleaned();
    } else {
        dirty.reset();
        state_.closed_dirty();
    }
    serve_waiters();
}

awaitable<void> connection_pool::run()
{
    while (!stopped_) {
        drop_grown_idle();
        for (auto& next : std::exchange(dirty_, {}))
            tasks_.spawn("pool_rollback", roll_back(std::move(next)));
        if (!checking_)
            tasks_.spawn("pool_check", look_after_sessions());
        const auto now = pool_state::clock::now();
        const auto retry_at = state_.retry_at() > now ? state_.retry_at() : now + health_interval;
        wake_.expires_at(
            std::clamp<pool_state::clock::time_point>(retry_at, now + shortest_pause, now + health_interval));
        if (stopped_ || !dirty_.empty())
            continue;
        co_await wake_.async_wait(use_tuple);
        serve_waiters();
    }
    tasks_.cancel();
    co_await tasks_.finished(pool_state::clock::now() + last_wait);
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

awaitable<result<transaction>> connection_pool::begin(lane in, uuid owner)
{
    auto borrowed = co_await acquire(in, owner);
    if (!borrowed)
        co_return borrowed.error();
    co_return transaction(std::move(*borrowed));
}

awaitable<result<result_set>> connection_pool::execute(const statement& what, const parameters& with,
                                                       uuid owner)
{
    auto borrowed = co_await acquire(lane::small, owner);
    if (!borrowed)
        co_return borrowed.error();
    auto answer = co_await (*borrowed)->execute(what, with);
    if (!answer && answer.error() == errc::serialization_failure)
        answer = co_await (*borrowed)->execute(what, with);
    co_return answer;
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
    return {.in_use = state_.in_use(),
            .idle = state_.idle(),
            .waiting = state_.waiting(),
            .connects = connects_,
            .ready = ready_,
            .last_error = last_error_};
}

}  // namespace restante::pq
