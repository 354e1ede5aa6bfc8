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

    upload_gauges(pq::connection_pool& db, metrics& counts);

    // Reads the figures every 15 s. What cannot be read keeps its last value; the timestamp tells how old
    // that is.
    awaitable<void> run(task_group& tasks);

    awaitable<error_code> refresh();

private:
    pq::connection_pool& db_;
    metrics::number& files_;
    metrics::number& bytes_;
    metrics::number& never_fetched_;
    metrics::number& fetched_;
    metrics::number& oldest_;
    metrics::number& estimated_;
    metrics::number& refreshed_at_;
};

}  // namespace restante
