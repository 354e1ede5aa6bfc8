#include "storage/commit_recovery.hpp"

#include "core/log.hpp"

namespace restante {

namespace {

constexpr auto settle_limit = std::chrono::seconds(5);
constexpr auto between_attempts = std::chrono::milliseconds(100);
constexpr auto shortest_attempt = std::chrono::milliseconds(200);

// Gives the connection back; the pool closes one that is half used.
void end_transaction(pq::transaction) {}

}  // namespace

awaitable<result<timestamp>> commit_recovery::settle(pq::transaction lost, uuid workspace, std::string fence,
                                                     activity_rows rows, clock::time_point give_up_at)
{
    if (lost.session().fell_silent())
        co_await db_.end_session(lost.session().backend_pid());
    // Our end is closed first: were COMMIT still in our buffer, the question would wait for its locks.
    end_transaction(std::move(lost));

    give_up_at = std::min(give_up_at, clock::now() + settle_limit);
    steady_timer pause(ex_);
    do {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(give_up_at - clock::now());
        auto settled = co_await requests_.settle(workspace, fence, std::max(left, shortest_attempt));
        if (settled) {
            log_line(log_level::warn, "commit_settled").field("stored", settled->has_value());
            if (!settled->has_value())
                co_return RESTANTE_ERROR(errc::database_unavailable);
            co_await activity_.notify_committed(std::move(rows));
            co_return **settled;
        }
        pause.expires_after(between_attempts);
        co_await pause.async_wait(use_tuple);
    } while (clock::now() < give_up_at);
    co_return RESTANTE_ERROR(errc::commit_outcome_unknown);
}

}  // namespace restante
