#include "storage/staging_transaction.hpp"

#include "core/fault_point.hpp"

#include <algorithm>
#include <vector>

namespace restante {

namespace {

// A small transaction waits for a lock only this long: one locked row must not delay all who share the
// transaction, nor hold a connection that others wait for.
constexpr auto short_lock_wait = std::chrono::seconds(1);

// The janitor takes bytes without a row for leftovers two hours after their key was made. When a store was
// that slow, or the server stood still, their rows must not be written any more.
bool may_be_swept(const upload& load)
{
    constexpr auto longest_wait = std::chrono::minutes(100);
    return load.keyed_at && std::chrono::steady_clock::now() - *load.keyed_at > longest_wait;
}

// One element a row of the feed: the first rows are about the files, in their order.
void add_file_bytes(std::vector<std::optional<std::int64_t>>& to, const upload& load)
{
    for (std::size_t i = 0; i < load.activities.size(); ++i) {
        const bool has_file = i < load.files.size();
        to.push_back(has_file ? std::optional(static_cast<std::int64_t>(load.files[i].content->size()))
                              : std::nullopt);
    }
}

}  // namespace

bool is_refusal(error_code ec)
{
    return ec == errc::check_violation || ec == errc::unique_violation || ec == errc::sql_error;
}

staging_transaction::staging_transaction(const staging_stores& with, std::span<const upload* const> requests,
                                         sharing how)
    : with_(with),
      requests_(requests),
      first_(*requests.front()),
      how_(how),
      large_(how == sharing::alone && first_.lane() == pq::lane::large)
{
}

awaitable<result<timestamp>> staging_transaction::commit(commit_recovery::clock::time_point give_up_at)
{
    const uuid owner = how_ == sharing::alone ? first_.workspace : uuid{};
    auto begun = co_await with_.db.begin(large_ ? pq::lane::large : pq::lane::small, owner);
    if (!begun)
        co_return begun.error();
    tx_.emplace(std::move(*begun));
    if (is_too_late())
        co_return RESTANTE_ERROR(requests_.size() > 1 ? errc::transaction_aborted : errc::could_not_stage);

    queue_fence_and_keys();
    if (large_)
        if (auto ec = co_await begin_large())
            co_return ec;
    fault_point("begun");
    if (auto ec = co_await write_files())
        co_return ec;
    if (first_.counts_on_grant())
        queue_grant_use(*tx_, *first_.token, first_.files);
    fault_point("before_publish");
    publish();
    fault_point("after_publish");

    auto results = co_await tx_->commit();
    if (!results && results.error() == errc::commit_outcome_unknown)
        co_return co_await with_.recovery.settle(std::move(*tx_), first_.workspace, fence_, std::move(rows_),
                                                 give_up_at);
    if (!results)
        co_return judge(results.error());
    if (!large_)
        expires_at_ = (*results)[fence_place_][0][0].as<timestamp>().value();
    co_return expires_at_;
}

bool staging_transaction::is_too_late() const
{
    return std::any_of(requests_.begin(), requests_.end(),
                       [](const upload* each) { return may_be_swept(*each); });
}

void staging_transaction::queue_fence_and_keys()
{
    std::optional<std::chrono::milliseconds> lock_wait;
    if (!large_)
        lock_wait = short_lock_wait;
    fence_place_ = tx_->queued();
    with_.requests.queue_fence(*tx_, first_.workspace, fence_, lock_wait);
    for (const auto& key : first_.keys)
        with_.requests.queue_key(*tx_, first_.workspace, key, *first_.answer, !first_.files.empty());
    first_file_ = tx_->queued();
}

// A used key is found out before the megabytes are sent.
awaitable<error_code> staging_transaction::begin_large()
{
    auto begun = co_await tx_->flush();
    if (!begun)
        co_return key_error(begun.error());
    expires_at_ = (*begun)[fence_place_][0][0].as<timestamp>().value();
    co_return error_code{};
}

awaitable<error_code> staging_transaction::write_files()
{
    if (large_) {
        auto ids = co_await with_.uploads.put_batch_tx(*tx_, first_.workspace, first_.files);
        if (!ids)
            co_return is_refusal(ids.error()) ? RESTANTE_ERROR(errc::could_not_stage) : ids.error();
        co_return error_code{};
    }
    std::vector<file_of_workspace> files;
    for (const auto* each : requests_)
        for (const auto& file : each->files)
            files.push_back({each->workspace, &file});
    with_.uploads.queue_rows_tx(*tx_, files);
    co_return error_code{};
}

void staging_transaction::publish()
{
    std::vector<std::optional<uuid>> tokens;
    std::vector<uuid> ending;
    std::vector<std::optional<std::int64_t>> file_bytes;
    for (const auto* each : requests_) {
        const auto& token = each->token;
        rows_.insert(rows_.end(), each->activities.begin(), each->activities.end());
        tokens.insert(tokens.end(), each->activities.size(), token ? std::optional(token->id) : std::nullopt);
        if (token && token->ends)
            ending.push_back(token->id);
        add_file_bytes(file_bytes, *each);
    }
    first_activity_ = tx_->queued();
    with_.activity.log_activity_tx(*tx_, rows_, tokens, file_bytes);
    if (!ending.empty())
        queue_end_check(*tx_, ending);
}

// The row of a key waits for a transaction that holds the same key; its patience is the lock wait. A session
// that broke, or a request without a key, knows nothing of the kind.
error_code staging_transaction::key_error(error_code ec) const
{
    const bool key_is_held = ec == errc::database_timeout && !first_.keys.empty() && !tx_->session().broken();
    return key_is_held ? RESTANTE_ERROR(errc::idempotency_key_running) : ec;
}

// Nothing was stored. Why, in the terms of the request.
error_code staging_transaction::judge(error_code ec) const
{
    if (!large_ && tx_->failed_at() < first_file_)
        return key_error(ec);
    // What is wrong with a message is its sender's to know; what is wrong with an upload's rows is ours.
    if (!is_refusal(ec) || requests_.size() > 1 || first_.files.empty())
        return ec;
    return RESTANTE_ERROR(tx_->failed_at() < first_activity_ ? errc::could_not_stage : errc::could_not_log);
}

}  // namespace restante
