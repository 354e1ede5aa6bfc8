#pragma once

#include "sweeper/gauges.hpp"
#include "sweeper/sweeper.hpp"

namespace restante {

// Background work for the whole database rather than for a request. It runs on one shard.
class housekeeping {
public:
    housekeeping(pq::connection_pool& db, metric_set& metrics, const retention_policy& policy)
        : sweeper_(db, metrics, policy), gauges_(db, metrics)
    {
    }

    // Both run until a stop is requested; one that throws is logged, counted and restarted.
    void start(task_group& tasks)
    {
        tasks.spawn_supervised("sweeper", [this, &tasks] { return sweeper_.run(tasks); });
        tasks.spawn_supervised("gauges", [this, &tasks] { return gauges_.run(tasks); });
    }

private:
    sweeper sweeper_;
    upload_gauges gauges_;
};

}  // namespace restante
