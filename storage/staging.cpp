#include "storage/staging.hpp"

#include "core/fault_point.hpp"

namespace restante {

namespace {

// A wait for a place in a transaction is bounded like the wait for a connection.
constexpr auto queue_limit = std::chrono::milliseconds(1500);

// A client is owed an answer within 10 s, whatever happens to its COMMIT.
constexpr auto answer_limit = std::chrono::milliseconds(8500);

// A transaction that others share waits for a lock only this long: one locked row must not delay them all.
const statement short_lock_wait{"short_lock_wait", "SET LOCAL lock_timeout = '1s'"};

std::uint64_t bytes_of(const upload& load)
{
    std::uint64_t total = 0;
    for (const auto& file : load.files)
        total += file.content->size();
    for (const auto& row : load.activities)
        total += row->what.request_body.value_or("").size() + row->what.response_body.value_or("").size();
    return total;
}

// A row that PostgreSQL refused, as opposed to a database that is unavailable, busy or without the table.
bool is_refusal(error_code ec)
{
    return ec == errc::check_violation || ec == errc::unique_violation || ec == errc::sql_error;
}

// One member made the transaction fail; the others may succeed without it.
bool is_fault_of_one(error_code ec)
{
    return is_refusal(ec) || ec == errc::transaction_aborted || ec == errc::serialization_failure ||
           ec == errc::workspace_not_found || ec == errc::invalid_token;
}

// The row of a key waits for a transaction that holds the same key; its patience is lock_timeout. A session
// that broke, or a request without a key, knows nothing of the kind.
error_code key_error(error_code ec, const pq::transaction& tx, const upload& load)
{
    const bool key_is_held = ec == errc::database_timeout && !load.keys.empty() && !tx.session().broken();
    return key_is_held ? RESTANTE_ERROR(errc::idempotency_key_running) : ec;
}

}  // namespace

struct staging::member {
    member(executor ex, upload what, group_commit::ticket number)
        : load(std::move(what)),
          request{number, load.workspace, bytes_of(load)},
          wake(ex),
          give_up_at(clock::now() + answer_limit)
    {
    }

    upload load;
    group_commit::request request;
    steady_timer wake;  // cancelled to wake it
    std::optional<result<staged>> outcome;
    bool leads = false;
    clock::time_point give_up_at;
};

// The right to run one transaction; at its end others may start theirs.
class staging::leadership {
public:
    leadership(staging& of, const group_commit::request& leader) : of_(of), leader_(leader) {}
    leadership(const leadership&) = delete;
    leadership& operator=(const leadership&) = delete;
    ~leadership()
    {
        of_.queue_.finish(leader_);
        of_.wake_next_leaders();
    }

private:
    staging& of_;
    group_commit::request leader_;
};

// A place in the queue. A member whose coroutine is destroyed gives it up, with a leadership that was never
// used.
class staging::queue_slot {
public:
    queue_slot(staging& of, std::shared_ptr<member> which) : of_(of), which_(std::move(which))
    {
        of_.queued_.emplace(which_->request.who, which_);
    }
    queue_slot(const queue_slot&) = delete;
    queue_slot& operator=(const queue_slot&) = delete;
    ~queue_slot()
    {
        of_.queued_.erase(which_->request.who);
        of_.queue_.leave(which_->request.who);
        if (which_->leads)
            const leadership unused(of_, which_->request);
    }
    void take_lead() { which_->leads = false; }

private:
    staging& of_;
    std::shared_ptr<member> which_;
};

staging::staging(executor ex, pq::connection_pool& db, pending_uploads& uploads, activity_log& activity,
                 upload_requests& requests, group_commit::limits limits)
    : ex_(ex),
      db_(db),
      uploads_(uploads),
      activity_(activity),
      requests_(requests),
      recovery_(ex, db, activity, requests),
      queue_(limits)
{
}

awaitable<result<staged>> staging::stage(upload load)
{
    if (auto ec = pending_uploads::validate(load.files))
        co_return ec;
    if (pending_uploads::lane_for(load.files) == pq::lane::small && load.keys.empty())
        co_return co_await stage_shared(std::move(load));
    // Nobody should wait behind a large request's megabytes, nor behind a key that another transaction holds.
    const auto alone = std::make_shared<member>(ex_, std::move(load), next_ticket_++);
    const group members{alone};
    co_await commit_group(members, sharing::alone);
    co_return std::move(*alone->outcome);
}

awaitable<result<staged>> staging::stage_shared(upload load)
{
    const auto self = std::make_shared<member>(ex_, std::move(load), next_ticket_++);
    const auto verdict = queue_.join(self->request, clock::now());
    if (verdict == group_commit::verdict::refuse)
        co_return RESTANTE_ERROR(errc::database_busy);
    if (verdict == group_commit::verdict::wait) {
        queue_slot place(*this, self);
        const auto ec = co_await wait_in_queue(*self);
        if (self->outcome)
            co_return std::move(*self->outcome);
        if (ec)
            co_return ec;
        place.take_lead();
    }
    const leadership turn(*this, self->request);
    const group members = gather(self);
    co_await commit_group(members, sharing::shared);
    co_return std::move(*self->outcome);
}

// Returns when the member has its outcome or leads; with an error when neither came in time.
awaitable<error_code> staging::wait_in_queue(member& self)
{
    self.wake.expires_after(queue_limit);
    co_await self.wake.async_wait(use_tuple);
    if (self.outcome || self.leads)
        co_return error_code{};
    if (queue_.leave(self.request.who))
        co_return RESTANTE_ERROR(errc::database_busy);
    // Another member's transaction has it, and that one has limits of its own.
    while (!self.outcome && !self.leads) {
        self.wake.expires_at(steady_timer::time_point::max());
        co_await self.wake.async_wait(use_tuple);
    }
    co_return error_code{};
}

staging::group staging::gather(const std::shared_ptr<member>& leader)
{
    group members{leader};
    const auto tickets = queue_.form_group(leader->request, clock::now());
    for (std::size_t i = 1; i < tickets.size(); ++i)
        members.push_back(queued_.at(tickets[i]));
    return members;
}

void staging::wake_next_leaders()
{
    while (const auto next = queue_.next_leader(clock::now())) {
        const auto& leader = queued_.at(*next);
        leader->leads = true;
        leader->wake.cancel();
    }
}

awaitable<void> staging::commit_group(const group& members, sharing how)
{
    // However this coroutine ends, no member is left without an outcome.
    struct completion {
        const group& members;
        ~completion()
        {
            for (const auto& each : members) {
                if (!each->outcome)
                    each->outcome = RESTANTE_ERROR(errc::commit_outcome_unknown);
                each->wake.cancel();
            }
        }
    } const completed{members};

    const auto committed = co_await commit_transaction(members, how);
    const bool lock_timed_out = !committed && committed.error() == errc::database_timeout;
    if (how == sharing::shared && lock_timed_out) {
        co_await retry_without_blocked(members);
    } else if (!committed && is_fault_of_one(committed.error()) &&
               (members.size() > 1 || committed.error() == errc::serialization_failure)) {
        co_await retry_one_by_one(members, how);
    } else {
        for (const auto& each : members)
            co_await settle_one(*each, committed);
    }
}

// Somebody holds the head of one of these workspaces. Its members are refused and isolated; the others are
// committed at once.
awaitable<void> staging::retry_without_blocked(const group& members)
{
    std::vector<uuid> workspaces;
    for (const auto& each : members)
        workspaces.push_back(each->load.workspace);
    const auto held = co_await activity_.find_held_heads(workspaces);
    group others;
    for (const auto& each : members) {
        const bool blocked =
            held && std::find(held->begin(), held->end(), each->load.workspace) != held->end();
        if (held && !blocked) {
            others.push_back(each);
            continue;
        }
        if (blocked)
            queue_.isolate(each->load.workspace, clock::now());
        each->outcome = RESTANTE_ERROR(errc::database_busy);
        each->wake.cancel();
    }
    if (!others.empty())
        co_await retry_one_by_one(others, sharing::shared);
}

awaitable<void> staging::retry_one_by_one(const group& members, sharing how)
{
    for (const auto& each : members) {
        const group alone{each};
        const auto committed = co_await commit_transaction(alone, how);
        co_await settle_one(*each, committed);
        each->wake.cancel();
    }
}

awaitable<void> staging::settle_one(member& which, result<timestamp> committed)
{
    if (committed) {
        queue_.release(which.load.workspace);
        which.outcome = staged{.expires_at = *committed, .earlier_answer = {}};
    } else if (committed.error() == errc::unique_violation && !which.load.keys.empty()) {
        which.outcome = co_await look_up_keys(which);
    } else {
        if (committed.error() == errc::database_timeout)
            queue_.isolate(which.load.workspace, clock::now());
        which.outcome = committed.error();
    }
}

awaitable<error_code> staging::write_files(pq::transaction& tx, const group& members)
{
    for (const auto& each : members) {
        auto ids = co_await uploads_.put_batch_tx(tx, each->load.workspace, each->load.files);
        if (!ids)
            co_return is_refusal(ids.error()) ? RESTANTE_ERROR(errc::could_not_stage) : ids.error();
    }
    co_return error_code{};
}

awaitable<result<timestamp>> staging::commit_transaction(const group& members, sharing how)
{
    const member& first = *members.front();
    const bool large =
        how == sharing::alone && pending_uploads::lane_for(first.load.files) == pq::lane::large;
    const uuid owner = how == sharing::alone ? first.load.workspace : uuid{};
    auto tx = co_await db_.begin(large ? pq::lane::large : pq::lane::small, owner);
    if (!tx)
        co_return tx.error();

    if (how == sharing::shared) {
        const pq::parameters none;
        tx->queue(short_lock_wait, none);
    }
    const auto fence = upload_requests::make_fence();
    const std::size_t fence_place = tx->queued();
    requests_.queue_fence(*tx, first.load.workspace, fence);
    for (const auto& key : first.load.keys)
        requests_.queue_key(*tx, first.load.workspace, key, *first.load.answer, !first.load.files.empty());
    const std::size_t first_file = tx->queued();
    timestamp expires_at{};
    if (large) {
        // A used key is found out before the megabytes are sent.
        auto begun = co_await tx->flush();
        if (!begun)
            co_return key_error(begun.error(), *tx, first.load);
        expires_at = (*begun)[fence_place][0][0].as<timestamp>().value();
    }
    fault_point("begun");
    if (auto ec = co_await write_files(*tx, members))
        co_return ec;
    const std::size_t first_activity = tx->queued();
    fault_point("before_publish");
    activity_rows rows;
    std::vector<std::optional<uuid>> tokens;
    for (const auto& each : members) {
        rows.insert(rows.end(), each->load.activities.begin(), each->load.activities.end());
        tokens.insert(tokens.end(), each->load.activities.size(), each->load.token);
    }
    activity_.log_activity_tx(*tx, rows, tokens);
    fault_point("after_publish");

    auto results = co_await tx->commit();
    if (results) {
        if (!large)
            expires_at = (*results)[fence_place][0][0].as<timestamp>().value();
        co_return expires_at;
    }
    if (results.error() == errc::commit_outcome_unknown)
        co_return co_await recovery_.settle(std::move(*tx), first.load.workspace, fence, std::move(rows),
                                            first.give_up_at);
    if (!large && tx->failed_at() < first_file)
        co_return key_error(results.error(), *tx, first.load);
    // What is wrong with a message is its sender's to know; what is wrong with an upload's rows is ours.
    if (!is_refusal(results.error()) || members.size() > 1 || first.load.files.empty())
        co_return results.error();
    co_return RESTANTE_ERROR(tx->failed_at() < first_activity ? errc::could_not_stage : errc::could_not_log);
}

// Which of the keys was used before, and for what.
awaitable<result<staged>> staging::look_up_keys(const member& which)
{
    for (const auto& key : which.load.keys) {
        auto found = co_await requests_.find(which.load.workspace, key.text);
        if (!found)
            co_return found.error();
        if (!*found)
            continue;
        if ((*found)->expired) {
            auto forgotten = co_await requests_.forget_expired(which.load.workspace, key.text);
            if (!forgotten)
                co_return forgotten.error();
            break;
        }
        if (key.fingerprint && (*found)->fingerprint != key.fingerprint)
            co_return RESTANTE_ERROR(errc::idempotency_key_reused);
        if ((*found)->files_gone)
            co_return RESTANTE_ERROR(errc::idempotent_files_gone);
        co_return staged{.expires_at = (*found)->files_expire_at,
                         .earlier_answer = std::move((*found)->answer)};
    }
    // The earlier use is over or was undone just now: the client may try again, and will find the key free.
    co_return RESTANTE_ERROR(errc::idempotency_key_running);
}

}  // namespace restante
