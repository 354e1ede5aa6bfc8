#pragma once

#include "core/metrics.hpp"
#include "core/task_group.hpp"
#include "storage/unacked.hpp"

namespace restante {

// Gauges of what waits, for dashboards. They speak of the whole database, not of this process: every replica
// shows the same, so a dashboard takes their maximum and never their sum. One shard of a process keeps them.
class upload_gauges {
public:
    static constexpr auto interval = std::chrono::seconds(15);

    upload_gauges(pq::connection_pool& db, metric_set& metrics);

    // Reads the figures every 15 s. What cannot be read keeps its last value; the timestamp tells how old
    // that is.
    awaitable<void> run(task_group& tasks);

    awaitable<error_code> refresh();

private:
    pq::connection_pool& db_;
    metric_set::number& files_;
    metric_set::number& bytes_;
    metric_set::number& never_fetched_;
    metric_set::number& fetched_;
    metric_set::number& oldest_;
    metric_set::number& estimated_;
    metric_set::number& refreshed_at_;
};

}  // namespace restante
