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
    on_.largest_ = std::max(on_.largest_, bytes_);
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

awaitable<result<std::vector<result_set>>> pipeline::run()
{
    failed_at_ = entries_.size();
    fault_point("before_flush", entries_.back().name);
    if (refused_ || !PQpipelineSync(on_.handle_))
        co_return on_.break_down(errc::database_unavailable);
    if (auto ec = co_await on_.flush())
        co_return ec;
    fault_point("after_flush", entries_.back().name);

    std::vector<result_set> results;
    results.reserve(entries_.size());
    error_code failure;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        for (int part = entries_[i].prepares ? 0 : 1; part < 2; ++part) {
            auto got = co_await on_.get_result();
            if (!got)
                co_return got.error();
            auto accepted = on_.accept(*got, entries_[i].name);
            if (on_.broken())
                co_return accepted.error();
            // A statement whose Parse failed or was skipped is not prepared in the session after all.
            if (!accepted && part == 0)
                on_.prepared_.erase(entries_[i].name);
            if (!accepted && !failure) {
                failure = accepted.error();
                failed_at_ = i;
            }
            if (accepted && part == 1)
                results.push_back(std::move(*accepted));
            if (auto ec = co_await read_until_null())
                co_return ec;
        }
    }
    auto sync = co_await on_.get_result();
    if (!sync)
        co_return sync.error();
    PQclear(*sync);
    if (!PQexitPipelineMode(on_.handle_))
        co_return on_.break_down(errc::database_unavailable);
    on_.busy_ = false;
    if (failure)
        co_return failure;
    co_return results;
}

}  // namespace restante::pq
