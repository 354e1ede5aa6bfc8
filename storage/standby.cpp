#include "storage/standby.hpp"

#include "core/log.hpp"

namespace restante {

namespace {

constexpr auto probe_interval = std::chrono::milliseconds(500);
constexpr auto look_for_primary = std::chrono::milliseconds(50);

constexpr std::array<std::string_view, 7> outcome_names{"served", "unneeded", "behind", "ahead",
                                                        "wrong",  "failed",   "skipped"};

const statement probe{"replica_probe", "SELECT pg_is_in_recovery()"};

}  // namespace

standby_session::standby_session(pq::lease on, deadline::clock::time_point end) : on_(std::move(on))
{
    on_->finish_by(end);
}

standby_session::~standby_session()
{
    on_->finish_by(deadline::clock::time_point::max());
}

standby::standby(executor ex, pq::pool_options to, metric_set& metrics) : ex_(ex), pool_(ex, std::move(to))
{
    for (std::size_t i = 0; i < counts_.size(); ++i)
        counts_[i] = &metrics.counter("molecule_replica_reads_total",
                                      "Reads that the standby of --replica-url could have answered.",
                                      {{"outcome", outcome_names[i]}});
    auto& usable_now = metrics.gauge("molecule_replica_usable", "Threads that read from the standby now.");
    metrics.before_scrape([this, &usable_now] { usable_now.set(usable() ? 1 : 0); });
}

awaitable<std::unique_ptr<standby_session>> standby::begin_read()
{
    const auto end = clock::now() + time_limit;
    auto lease = co_await pool_.acquire();
    if (!lease) {
        const bool away =
            lease.error() == errc::database_unavailable || lease.error() == errc::database_unsafe;
        count(away ? standby_outcome::failed : standby_outcome::skipped);
        co_return nullptr;
    }
    co_return std::make_unique<standby_session>(std::move(*lease), end);
}

void standby::count(standby_outcome outcome)
{
    counts_[static_cast<std::size_t>(outcome)]->add();
    switch (outcome) {
        case standby_outcome::served: return circuit_.served();
        case standby_outcome::behind: return circuit_.fell_behind(clock::now());
        case standby_outcome::wrong:
        case standby_outcome::failed: return note_failure(outcome);
        case standby_outcome::unneeded:
        case standby_outcome::ahead:
        case standby_outcome::skipped: return;
    }
}

void standby::note_failure(standby_outcome outcome)
{
    if (!circuit_.has_failed())
        log_line(log_level::warn, "replica_not_used")
            .field("outcome", outcome_names[static_cast<std::size_t>(outcome)]);
    circuit_.failed(clock::now());
}

std::optional<std::string> standby::trouble() const
{
    const std::string what = "the standby of --replica-url is not used: ";
    if (!pool_.ready())
        return what + pool_.status().last_error;
    if (circuit_.has_failed())
        return what + "a read failed, or was not answered in time";
    if (circuit_.lags(clock::now()))
        return what + "it is behind the primary";
    return std::nullopt;
}

awaitable<void> standby::run_pool(const pq::connection_pool& primary)
{
    steady_timer pause(ex_);
    while (!stopped_ && !primary.ready()) {
        pause.expires_after(look_for_primary);
        co_await pause.async_wait(use_tuple);
    }
    co_await pool_.run();
}

awaitable<void> standby::run_probes(task_group& tasks)
{
    while (!co_await tasks.stopped_within(probe_interval)) {
        if (!circuit_.wants_probe(clock::now()) || !pool_.ready())
            continue;
        const bool answered = co_await answers();
        circuit_.probed(answered, clock::now());
        if (answered)
            log_line(log_level::info, "replica_used_again");
    }
}

awaitable<bool> standby::answers()
{
    auto lease = co_await pool_.acquire();
    if (!lease)
        co_return false;
    const standby_session session(std::move(*lease), clock::now() + time_limit);
    const auto answer = co_await session->execute(probe);
    co_return answer.has_value();
}

void standby::stop()
{
    stopped_ = true;
    pool_.stop();
}

}  // namespace restante
