#include "storage/pq/pipeline.hpp"

#include "core/fault_point.hpp"

#include <libpq-fe.h>

namespace restante::pq {

namespace {
constexpr int binary_results = 1;
}

void pipeline::add(const statement& what, const parameters& with)
{
    PGconn* const handle = on_.handle_;
    if (entries_.empty()) {
        on_.busy_ = true;
        refused_ = on_.broken_ || !PQenterPipelineMode(handle);
    }
    promised_ = promised_ || (what.promised && on_.options_.require_synchronous);
    const bool is_new = !on_.prepared_.contains(what.name);
    entries_.push_back({what.name, is_new});
    if (refused_)
        return;
    if (is_new)
        refused_ = !PQsendPrepare(handle, what.name, what.text, 0, nullptr);
    refused_ = refused_ || !PQsendQueryPrepared(handle, what.name, with.count(), with.values(),
                                                with.lengths(), with.formats(), binary_results);
    if (is_new)
        on_.prepared_.insert(what.name);
    bytes_ += with.bytes();
    on_.note_size(bytes_);
}

void pipeline::add(const statement& what)
{
    parameters none;
    add(what, none);
}

awaitable<error_code> pipeline::read_until_null()
{
    for (;;) {
        auto got = co_await on_.get_result();
        if (!got)
            co_return got.error();
        if (!*got)
            co_return error_code{};
        PQclear(*got);
    }
}

awaitable<result<result_set>> pipeline::read_one(const entry& which)
{
    result<result_set> outcome = RESTANTE_ERROR(errc::sql_error);
    error_code failure;
    for (int part = which.prepares ? 0 : 1; part < 2; ++part) {
        auto got = co_await on_.get_result();
        if (!got)
            co_return got.error();
        outcome = on_.accept(*got, which.name);
        if (on_.broken())
            co_return outcome;
        // A statement whose Parse failed or was skipped is not prepared in the session after all.
        if (!outcome && part == 0)
            on_.prepared_.erase(which.name);
        if (!outcome && !failure)
            failure = outcome.error();
        if (auto ec = co_await read_until_null())
            co_return ec;
    }
    if (failure)
        co_return failure;
    co_return outcome;
}

awaitable<error_code> pipeline::read_sync()
{
    auto sync = co_await on_.get_result();
    if (!sync)
        co_return sync.error();
    PQclear(*sync);
    co_return error_code{};
}

// When synchronous_standby_names is emptied, all commits that wait for a standby succeed at once, and so do
// those after them. A session reads the new setting before its next statement, and PostgreSQL signals
// sessions before the process that releases the waiting ones: so the question, in a Sync of its own after the
// commit, is answered with no where the commit had no standby to wait for. Only if the names were emptied and
// set again in the meantime it is not.
bool pipeline::send_syncs()
{
    if (!PQpipelineSync(on_.handle_))
        return false;
    if (!promised_)
        return true;
    return PQsendQueryParams(on_.handle_, "SELECT current_setting('synchronous_standby_names') <> ''", 0,
                             nullptr, nullptr, nullptr, nullptr, binary_results) &&
           PQpipelineSync(on_.handle_);
}

// An error, too, means that it cannot be told.
awaitable<error_code> pipeline::read_whether_synchronous()
{
    constexpr entry question{"still_synchronous", false};
    const auto answer = co_await read_one(question);
    if (on_.broken())
        co_return answer.error();
    if (auto ec = co_await read_sync())
        co_return ec;
    if (!answer)
        co_return RESTANTE_ERROR(errc::commit_outcome_unknown);
    const auto synchronous = (*answer)[0][0].as<bool>();
    if (!synchronous || !*synchronous)
        co_return RESTANTE_ERROR(errc::commit_outcome_unknown);
    co_return error_code{};
}

awaitable<result<std::vector<result_set>>> pipeline::run()
{
    failed_at_ = entries_.size();
    fault_point("before_flush", entries_.back().name);
    on_.standby_wait_cancelled_ = false;
    if (refused_ || !send_syncs())
        co_return on_.break_down(errc::database_unavailable);
    if (auto ec = co_await on_.flush())
        co_return ec;
    fault_point("after_flush", entries_.back().name);

    std::vector<result_set> results;
    results.reserve(entries_.size());
    error_code failure;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        auto one = co_await read_one(entries_[i]);
        if (on_.broken())
            co_return one.error();
        if (!one && !failure) {
            failure = one.error();
            failed_at_ = i;
        }
        if (one)
            results.push_back(std::move(*one));
    }
    if (auto ec = co_await read_sync())
        co_return ec;
    if (on_.standby_wait_cancelled_ && !failure)
        failure = RESTANTE_ERROR(errc::commit_outcome_unknown);
    if (promised_) {
        const auto ec = co_await read_whether_synchronous();
        if (on_.broken() || !failure)
            failure = ec;
    }
    if (on_.broken())
        co_return failure;
    if (!PQexitPipelineMode(on_.handle_))
        co_return on_.break_down(errc::database_unavailable);
    on_.busy_ = false;
    if (failure)
        co_return failure;
    co_return results;
}

}  // namespace restante::pq
