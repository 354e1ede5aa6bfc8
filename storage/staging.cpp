#include "storage/staging.hpp"

#include "core/fault_point.hpp"
#include "core/log.hpp"

namespace restante {

namespace {

// Two commits at a time keep both PostgreSQL and the disk busy; more only make the groups smaller.
constexpr unsigned most_under_way = 2;
constexpr std::size_t most_aboard = 16;
constexpr std::uint64_t most_bytes_aboard = 1 << 20;

// For asking whether a lost COMMIT happened: this long, but not beyond the time in which a client is owed an
// answer.
constexpr auto settle_limit = std::chrono::seconds(5);
constexpr auto answer_limit = std::chrono::milliseconds(8500);

std::uint64_t bytes_of(const upload& load)
{
    std::uint64_t total = 0;
    for (const auto& file : load.files)
        total += file.content->size();
    return total;
}

// A row that PostgreSQL refused, as opposed to a database that is away, busy or without the table.
bool refused(error_code ec)
{
    return ec == errc::check_violation || ec == errc::unique_violation || ec == errc::sql_error;
}

// The row of a client's key waits for a transaction that holds the same key; its patience is lock_timeout. A
// session that broke, or a request without a key, knows nothing of the kind.
error_code key_error(error_code ec, const pq::transaction& tx, const upload& load)
{
    const bool key_is_held = ec == errc::database_timeout && load.key && !tx.session().broken();
    return key_is_held ? RESTANTE_ERROR(errc::idempotency_key_running) : ec;
}

// Gives the connection back; the pool closes one that is half used.
void end_transaction(pq::transaction) {}

}  // namespace

struct staging::passenger {
    passenger(executor ex, upload what) : load(std::move(what)), bytes(bytes_of(load)), bell(ex) {}

    upload load;
    std::uint64_t bytes;
    steady_timer bell;  // rung by cancelling it
    std::optional<result<staged>> outcome;
    bool leads = false;
};

// The right to run one transaction; at its end the right goes to the next in line.
class staging::lead {
public:
    explicit lead(staging& line) : line_(line) {}
    lead(const lead&) = delete;
    lead& operator=(const lead&) = delete;
    ~lead()
    {
        if (line_.waiting_.empty()) {
            --line_.under_way_;
            return;
        }
        const auto next = std::move(line_.waiting_.front());
        line_.waiting_.pop_front();
        next->leads = true;
        next->bell.cancel();
    }

private:
    staging& line_;
};

// A place in the line. Given up, with a lead that was never used, when the request's coroutine is cut off.
class staging::boarding {
public:
    boarding(staging& line, std::shared_ptr<passenger> who) : line_(line), who_(std::move(who))
    {
        line_.waiting_.push_back(who_);
    }
    boarding(const boarding&) = delete;
    boarding& operator=(const boarding&) = delete;
    ~boarding()
    {
        std::erase(line_.waiting_, who_);
        if (who_->leads)
            const lead passed_on(line_);
    }
    void take_lead() { who_->leads = false; }

private:
    staging& line_;
    std::shared_ptr<passenger> who_;
};

staging::staging(executor ex, pq::connection_pool& db, pending_uploads& uploads, activity_log& activity,
                 upload_requests& requests)
    : ex_(ex), db_(db), uploads_(uploads), activity_(activity), requests_(requests)
{
}

awaitable<result<staged>> staging::stage(upload load)
{
    if (auto ec = pending_uploads::validate(load.files))
        co_return ec;
    if (pending_uploads::lane_for(load.files) == pq::lane::small && !load.key)
        co_return co_await ride(std::move(load));
    // Nobody should wait behind a large request's megabytes, nor behind a key that another transaction holds.
    const auto alone = std::make_shared<passenger>(ex_, std::move(load));
    const group aboard{alone};
    co_await travel(aboard);
    co_return std::move(*alone->outcome);
}

awaitable<result<staged>> staging::ride(upload load)
{
    const auto self = std::make_shared<passenger>(ex_, std::move(load));
    if (under_way_ >= most_under_way) {
        boarding place(*this, self);
        self->bell.expires_at(steady_timer::time_point::max());
        co_await self->bell.async_wait(use_tuple);
        if (self->outcome)
            co_return std::move(*self->outcome);
        if (!self->leads)
            co_return RESTANTE_ERROR(errc::shutting_down);
        place.take_lead();
    } else {
        ++under_way_;
    }
    const lead turn(*this);
    const group aboard = board(self);
    co_await travel(aboard);
    co_return std::move(*self->outcome);
}

staging::group staging::board(std::shared_ptr<passenger> leader)
{
    std::uint64_t bytes = leader->bytes;
    group aboard{std::move(leader)};
    while (!waiting_.empty() && aboard.size() < most_aboard &&
           bytes + waiting_.front()->bytes <= most_bytes_aboard) {
        bytes += waiting_.front()->bytes;
        aboard.push_back(std::move(waiting_.front()));
        waiting_.pop_front();
    }
    return aboard;
}

awaitable<void> staging::travel(const group& aboard)
{
    // Whoever leaves this coroutine, by whatever way, leaves nobody behind without an answer.
    struct arrival {
        const group& aboard;
        ~arrival()
        {
            for (const auto& who : aboard) {
                if (!who->outcome)
                    who->outcome = RESTANTE_ERROR(errc::commit_outcome_unknown);
                who->bell.cancel();
            }
        }
    } const arrived{aboard};

    auto committed = co_await commit_together(aboard);
    if (committed) {
        for (const auto& who : aboard)
            who->outcome = staged{.expires_at = *committed, .earlier_answer = {}};
        co_return;
    }
    const bool worth_another_try = refused(committed.error()) ||
                                   committed.error() == errc::transaction_aborted ||
                                   committed.error() == errc::serialization_failure;
    for (const auto& who : aboard) {
        const group alone{who};
        result<timestamp> mine = committed.error();
        if (worth_another_try && aboard.size() > 1)
            mine = co_await commit_together(alone);
        if (mine)
            who->outcome = staged{.expires_at = *mine, .earlier_answer = {}};
        else if (mine.error() == errc::unique_violation && who->load.key)
            who->outcome = co_await look_up_key(*who);
        else
            who->outcome = mine.error();
    }
}

activity_rows staging::activities_of(const group& aboard)
{
    activity_rows rows;
    for (const auto& who : aboard)
        rows.insert(rows.end(), who->load.activities.begin(), who->load.activities.end());
    return rows;
}

awaitable<result<timestamp>> staging::commit_together(const group& aboard)
{
    const bool large =
        aboard.size() == 1 && pending_uploads::lane_for(aboard[0]->load.files) == pq::lane::large;
    auto tx = co_await db_.begin(large ? pq::lane::large : pq::lane::small);
    if (!tx)
        co_return tx.error();

    const auto fence = upload_requests::make_fence();
    requests_.queue_fence(*tx, aboard.front()->load.workspace, fence);
    if (const auto& key = aboard.front()->load.key)
        requests_.queue_key(*tx, aboard.front()->load.workspace, *key, *aboard.front()->load.answer);
    const std::size_t first_file = tx->queued();
    timestamp expires_at{};
    if (large) {
        // A used key is found out before the megabytes are sent.
        auto begun = co_await tx->flush();
        if (!begun)
            co_return key_error(begun.error(), *tx, aboard.front()->load);
        expires_at = (*begun)[0][0][0].as<timestamp>().value();
    }
    fault_point("begun");
    for (const auto& who : aboard) {
        auto ids = co_await uploads_.put_batch_tx(*tx, who->load.workspace, who->load.files);
        if (!ids)
            co_return refused(ids.error()) ? RESTANTE_ERROR(errc::could_not_stage) : ids.error();
    }
    const std::size_t first_activity = tx->queued();
    fault_point("before_publish");
    activity_.log_activity_tx(*tx, activities_of(aboard));
    fault_point("after_publish");

    const auto give_up_at = std::chrono::steady_clock::now() + answer_limit;
    auto results = co_await tx->commit();
    if (results) {
        if (!large)
            expires_at = (*results)[0][0][0].as<timestamp>().value();
        co_return expires_at;
    }
    if (results.error() == errc::commit_outcome_unknown && tx->session().fell_silent())
        co_await db_.end_session(tx->session().backend_pid());
    if (results.error() == errc::commit_outcome_unknown) {
        // Our end of it is closed first: were COMMIT still here, the question would wait for its locks.
        end_transaction(std::move(*tx));
        co_return co_await settle_outcome(aboard, fence, give_up_at);
    }
    if (!large && tx->failed_at() < first_file)
        co_return key_error(results.error(), *tx, aboard.front()->load);
    if (!refused(results.error()) || aboard.size() > 1)
        co_return results.error();
    co_return RESTANTE_ERROR(tx->failed_at() < first_activity ? errc::could_not_stage : errc::could_not_log);
}

awaitable<result<timestamp>> staging::settle_outcome(const group& aboard, const std::string& fence,
                                                     std::chrono::steady_clock::time_point give_up_at)
{
    give_up_at = std::min(give_up_at, std::chrono::steady_clock::now() + settle_limit);
    steady_timer pause(ex_);
    do {
        auto settled = co_await requests_.settle(aboard.front()->load.workspace, fence);
        if (settled) {
            log_line(log_level::warn, "commit_settled").field("stored", settled->has_value());
            if (!settled->has_value())
                co_return RESTANTE_ERROR(errc::database_unavailable);
            co_await activity_.tell_committed(activities_of(aboard));
            co_return **settled;
        }
        pause.expires_after(std::chrono::milliseconds(100));
        co_await pause.async_wait(use_tuple);
    } while (std::chrono::steady_clock::now() < give_up_at);
    co_return RESTANTE_ERROR(errc::commit_outcome_unknown);
}

awaitable<result<staged>> staging::look_up_key(const passenger& who)
{
    const client_key& key = *who.load.key;
    auto found = co_await requests_.find(who.load.workspace, key.text);
    if (!found)
        co_return found.error();
    if (!*found || (*found)->expired) {
        // The earlier use is over or was undone just now: the client may try again, and will find the key
        // free.
        auto forgotten = co_await requests_.forget_expired(who.load.workspace, key.text);
        if (!forgotten)
            co_return forgotten.error();
        co_return RESTANTE_ERROR(errc::idempotency_key_running);
    }
    if ((*found)->fingerprint != key.fingerprint)
        co_return RESTANTE_ERROR(errc::idempotency_key_reused);
    co_return staged{.expires_at = (*found)->files_expire_at, .earlier_answer = std::move((*found)->answer)};
}

}  // namespace restante
