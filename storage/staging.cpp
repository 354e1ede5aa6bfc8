#include "storage/staging.hpp"

#include "core/fault_point.hpp"
#include "storage/content/content_key.hpp"

#include <algorithm>

namespace restante {

namespace {

// A wait for a place in a transaction is bounded like the wait for a connection.
constexpr auto queue_limit = std::chrono::milliseconds(1500);

// How long a store may have taken to fail and still be asked to remove what it has got.
constexpr auto removal_patience = std::chrono::seconds(4);

// A client is owed an answer within 10 s, whatever happens to its COMMIT. The last question about it begins
// before this, and may have to wait for a connection.
constexpr auto answer_limit = std::chrono::seconds(8);

// The waits of one more transaction: for a connection and for a lock. None is begun that may end too late.
constexpr auto longest_retry = std::chrono::milliseconds(2500);

// Of one workspace: they wait for each other at the head of its feed, so more would only hold connections.
constexpr unsigned most_alone = 4;

// A head that is held twice so far apart is not that of a workspace that others are just writing to.
constexpr auto between_looks = std::chrono::milliseconds(100);

// One member made the transaction fail; the others may succeed without it.
bool is_fault_of_one(error_code ec)
{
    return is_refusal(ec) || ec == errc::transaction_aborted || ec == errc::serialization_failure ||
           ec == errc::workspace_not_found || ec == errc::invalid_token || ec == errc::quota_exceeded;
}

// The files whose bytes go elsewhere get their keys.
std::vector<content_to_store> choose_places(upload& load, const content_stores* contents)
{
    std::vector<content_to_store> outside;
    if (!contents)
        return outside;
    const auto now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
    for (auto& file : load.files) {
        if (!file.content)
            continue;
        file.place = contents->policy().place_for(file.content->size());
        if (file.is_inline())
            continue;
        file.key = make_content_key(file.file_id, now);
        outside.push_back({file.key, file.content, file.sha256, load.trace});
    }
    load.keyed_at = std::chrono::steady_clock::now();
    return outside;
}

std::vector<std::string> keys_of(std::span<const content_to_store> files)
{
    std::vector<std::string> keys;
    for (const auto& file : files)
        keys.push_back(file.key);
    return keys;
}

}  // namespace

struct staging::member {
    member(executor ex, upload what, group_commit::ticket number)
        : load(std::move(what)),
          request{number, load.workspace, load.bytes()},
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
                 upload_requests& requests, content_stores* contents, group_commit::limits limits)
    : ex_(ex),
      activity_(activity),
      requests_(requests),
      contents_(contents),
      recovery_(ex, db, activity, requests),
      stores_{db, uploads, activity, requests, recovery_},
      queue_(limits),
      alone_turns_({.each = std::clamp(db.most_connections() / 2, 1u, most_alone)})
{
}

awaitable<result<staged>> staging::stage(upload load)
{
    const auto outside = choose_places(load, contents_);
    if (auto ec = pending_uploads::validate(load.files))
        co_return ec;
    if (outside.empty())
        co_return co_await stage_rows(std::move(load));

    const auto place = contents_->policy().store;
    const auto keys = keys_of(outside);
    const auto begun = clock::now();
    auto failure = co_await contents_->write(place, outside);
    fault_point("bytes_durable");
    result<staged> outcome = failure;
    if (!failure)
        outcome = co_await stage_rows(std::move(load));
    const bool no_rows =
        outcome ? outcome->earlier_answer.has_value() : outcome.error() != errc::commit_outcome_unknown;
    // A store that took long to fail would take as long again, while the client waits: the janitor will do
    // it.
    const bool hangs = failure && clock::now() - begun > removal_patience;
    if (no_rows && !hangs)
        co_await contents_->remove(place, keys);
    co_return outcome;
}

awaitable<result<staged>> staging::stage_rows(upload load)
{
    const bool large = load.lane() == pq::lane::large;
    if (!large && load.keys.empty() && !load.counts_on_grant())
        co_return co_await stage_shared(std::move(load));
    // Nobody should wait behind a large request's megabytes, nor behind a key or grant that another
    // transaction holds.
    if (large)
        co_return co_await stage_alone(std::move(load));
    const bool isolated = queue_.is_isolated(load.workspace, clock::now());
    const auto turn = co_await alone_turns_.take(load.workspace, isolated);
    if (!turn)
        co_return turn.error();
    co_return co_await stage_alone(std::move(load));
}

awaitable<result<staged>> staging::stage_alone(upload load)
{
    const auto alone = std::make_shared<member>(ex_, std::move(load), next_ticket_++);
    const group members{alone};
    co_await commit_group(members, sharing::alone);
    co_return std::move(*alone->outcome);
}

awaitable<bool> staging::has_used(uuid workspace, std::string key)
{
    const auto found = co_await requests_.find(workspace, std::move(key));
    co_return found && found->has_value();
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
    const auto held = co_await find_blocked(std::move(workspaces));
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

// Those whose heads somebody holds now and a moment later.
awaitable<result<std::vector<uuid>>> staging::find_blocked(std::vector<uuid> workspaces)
{
    auto held = co_await activity_.find_held_heads(workspaces);
    if (!held || held->empty())
        co_return held;
    steady_timer pause(ex_);
    pause.expires_after(between_looks);
    co_await pause.async_wait(use_tuple);
    co_return co_await activity_.find_held_heads(*held);
}

awaitable<void> staging::retry_one_by_one(const group& members, sharing how)
{
    for (const auto& each : members) {
        if (clock::now() + longest_retry > each->give_up_at) {
            each->outcome = RESTANTE_ERROR(errc::database_busy);
        } else {
            const group alone{each};
            const auto committed = co_await commit_transaction(alone, how);
            co_await settle_one(*each, committed);
        }
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

awaitable<result<timestamp>> staging::commit_transaction(const group& members, sharing how)
{
    std::vector<const upload*> loads;
    // A member that led none of the transactions may have waited longer than the one that does.
    auto give_up_at = members.front()->give_up_at;
    for (const auto& each : members) {
        loads.push_back(&each->load);
        give_up_at = std::min(give_up_at, each->give_up_at);
    }
    staging_transaction transaction(stores_, loads, how);
    co_return co_await transaction.commit(give_up_at);
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
