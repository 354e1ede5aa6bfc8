#pragma once

#include "core/metrics.hpp"
#include "storage/sweep.hpp"
#include "sweeper/retention.hpp"

#include <random>

namespace restante {

// What one cycle did.
struct cycle_report {
    sweep_counts files;
    std::int64_t requests = 0;  // idempotency keys and fences
    std::int64_t activity = 0;
    bool more = false;   // there was more to do than time
    error_code failure;  // the first one; the other jobs were tried all the same
    std::chrono::microseconds took{};

    bool did_something() const { return files.acked + files.expired + requests + activity > 0; }

    void add(const forget_outcome& job)
    {
        more = more || job.more;
        if (!failure)
            failure = job.failure;
    }
};

// Sweeps at start and then again and again. Whatever a cycle meets is counted and logged, and the next one
// tries again; only a stop ends the loop. One shard of a process runs it; of several processes each runs its
// own, and they share the work.
class sweeper {
public:
    sweeper(pq::connection_pool& db, metric_set& metrics, retention_policy policy, cycle_shares shares = {});

    // Ends at once when the group is asked to stop: between cycles, or after the batch that is under way.
    awaitable<void> run(task_group& tasks);

    // One cycle, counted, logged and recorded for `restante status`.
    awaitable<cycle_report> sweep_once(task_group& tasks);

private:
    awaitable<cycle_report> sweep_everything(task_group& tasks);
    void tell(const cycle_report& report);
    void tell_failure(const cycle_report& report);

    storage_sweep storage_;
    retention_policy policy_;
    cycle_shares shares_;
    std::minstd_rand random_{std::random_device{}()};
    bool disabled_ = false;  // the tables are not there; said once

    metric_set::number& acked_;
    metric_set::number& expired_;
    metric_set::number& errors_;
    metric_set::number& requests_;
    metric_set::number& activity_;
    metric_set::number& last_success_;
    metric_set::histogram& duration_;
};

}  // namespace restante
