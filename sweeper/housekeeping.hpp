#pragma once

#include "sweeper/gauges.hpp"
#include "sweeper/sweeper.hpp"

namespace restante {

// What a process does for the whole database rather than for a request. One shard has it.
class housekeeping {
public:
    housekeeping(pq::connection_pool& db, metric_set& metrics, const retention_policy& policy)
        : sweeper_(db, metrics, policy), gauges_(db, metrics)
    {
    }

    // Both run until the group is asked to stop; one that throws is logged, counted and started again.
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
