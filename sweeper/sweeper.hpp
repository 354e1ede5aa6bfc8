#pragma once

#include "core/metrics.hpp"
#include "storage/sweep.hpp"
#include "sweeper/retention.hpp"

#include <random>

namespace restante {

// The outcome of one cycle.
struct cycle_report {
    sweep_counts files;
    std::int64_t requests = 0;  // idempotency keys and fences
    std::int64_t activity = 0;
    std::int64_t receipts = 0;
    bool more = false;   // it ran out of time
    error_code failure;  // the first one; the other jobs still ran
    std::chrono::microseconds took{};

    bool did_something() const { return files.acked + files.expired + requests + activity + receipts > 0; }

    void add(const forget_outcome& job)
    {
        more = more || job.more;
        if (!failure)
            failure = job.failure;
    }
};

// Sweeps at startup and then periodically. Every failure of a cycle is counted and logged, and the next one
// tries again; only a stop ends the loop. One shard of a process runs it; several processes each run their
// own and share the work.
class sweeper {
public:
    // The listener hears of files that expired.
    sweeper(pq::connection_pool& db, metric_set& metrics, retention_policy policy, cycle_shares shares = {},
            live_event_listener* listener = nullptr);

    // Returns promptly when a stop is requested: between cycles, or after the current batch.
    awaitable<void> run(task_group& tasks);

    // One cycle, counted, logged and recorded for `restante status`.
    awaitable<cycle_report> sweep_once(task_group& tasks);

private:
    awaitable<cycle_report> sweep_everything(task_group& tasks);
    void log_report(const cycle_report& report);
    void log_failure(const cycle_report& report);

    storage_sweep storage_;
    retention_policy policy_;
    cycle_shares shares_;
    std::minstd_rand random_{std::random_device{}()};
    bool disabled_ = false;  // the tables do not exist; logged once

    metric_set::number& acked_;
    metric_set::number& expired_;
    metric_set::number& errors_;
    metric_set::number& requests_;
    metric_set::number& activity_;
    metric_set::number& receipts_;
    metric_set::number& last_success_;
    metric_set::histogram& duration_;
};

}  // namespace restante
