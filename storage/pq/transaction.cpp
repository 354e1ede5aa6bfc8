#include "storage/pq/transaction.hpp"

#include "core/fault_point.hpp"
#include "core/log.hpp"

#include <new>

namespace restante::pq {

namespace {

// Not left to the server's default: under SERIALIZABLE, uploads that have nothing to do with each other fail
// each other.
const statement begin_statement{"begin", "BEGIN ISOLATION LEVEL READ COMMITTED"};
const statement commit_statement{"commit", "COMMIT", promised};

}  // namespace

transaction::transaction(lease on) : on_(std::move(on)) {}

transaction::~transaction() = default;

transaction::transaction(transaction&&) noexcept = default;

void transaction::ensure_pipeline()
{
    if (queued_)
        return;
    queued_ = std::make_unique<pipeline>(*on_);
    if (!begun_) {
        queued_->add(begin_statement);
        begun_ = begin_is_queued_ = true;
    }
}

void transaction::queue(const statement& what, const parameters& with)
{
    ensure_pipeline();
    queued_->add(what, with);
}

std::size_t transaction::queued() const
{
    return queued_ ? queued_->size() - (begin_is_queued_ ? 1 : 0) : 0;
}

awaitable<result<std::vector<result_set>>> transaction::flush()
{
    ensure_pipeline();
    const auto batch = std::move(queued_);
    const bool began_here = std::exchange(begin_is_queued_, false);
    auto results = co_await batch->run();
    if (results && began_here)
        results->erase(results->begin());
    failed_at_ = batch->failed_at() - (began_here && batch->failed_at() > 0 ? 1 : 0);
    co_return results;
}

awaitable<result<result_set>> transaction::execute(const statement& what, const parameters& with)
{
    queue(what, with);
    auto results = co_await flush();
    if (!results)
        co_return results.error();
    co_return std::move(results->back());
}

awaitable<result<copy_in>> transaction::copy(const std::string& sql)
{
    const std::string text = begun_ ? sql : begin_statement.text + ("; " + sql);
    begun_ = true;
    co_return co_await copy_in::begin(*on_, text);
}

void transaction::after_commit(commit_hook hook)
{
    hooks_.push_back(std::move(hook));
}

awaitable<result<std::vector<result_set>>> transaction::commit()
{
    ensure_pipeline();
    queued_->add(commit_statement);
    const bool had_error = on_->broken();
    result<std::vector<result_set>> results = RESTANTE_ERROR(errc::commit_outcome_unknown);
    try {
        results = co_await flush();
    } catch (const std::bad_alloc&) {
        // COMMIT may have been sent, and its result can no longer be read.
        co_return results.error();
    }
    if (!results) {
        const bool may_have_left = on_->broken() && !had_error;
        if (may_have_left)
            co_return RESTANTE_ERROR(errc::commit_outcome_unknown);
        co_return results.error();
    }
    // COMMIT of a failed transaction returns ROLLBACK.
    const bool committed = results->back().command() == "COMMIT";
    results->pop_back();
    if (!committed)
        co_return RESTANTE_ERROR(errc::transaction_aborted);
    run_hooks(*results);
    co_return results;
}

// The data is committed, and the client must be told so even if there is no memory to notify others.
void transaction::run_hooks(std::span<const result_set> results) noexcept
try {
    fault_point("committed");
    const auto hooks = std::exchange(hooks_, {});
    for (const auto& hook : hooks)
        hook(results);
} catch (const std::exception& e) {
    log_line(log_level::error, "event_lost").field("error", e.what());
}

}  // namespace restante::pq
