#pragma once

#include "core/metrics.hpp"
#include "core/task_group.hpp"
#include "storage/content_rows.hpp"
#include "storage/unacked.hpp"

namespace restante {

// Gauges of pending work and of what VACUUM may not remove, for dashboards. They describe the whole database,
// not this process: every replica reports the same values, so a dashboard uses their maximum and never their
// sum. One shard of a process maintains them.
class upload_gauges {
public:
    static constexpr auto interval = std::chrono::seconds(15);

    upload_gauges(pq::connection_pool& db, metric_set& metrics);

    // Reads the values every 15 s. A value that cannot be read keeps its last one; the timestamp shows how
    // old that is.
    awaitable<void> run(task_group& tasks);

    awaitable<error_code> refresh();

private:
    awaitable<error_code> refresh_places();

    pq::connection_pool& db_;
    metric_set::number& files_;
    metric_set::number& bytes_;
    metric_set::number& never_fetched_;
    metric_set::number& fetched_;
    metric_set::number& oldest_;
    metric_set::number& estimated_;
    metric_set::number& refreshed_at_;
    metric_set::number& held_;
    struct place_gauges {
        metric_set::number& files;
        metric_set::number& bytes;
    };
    std::vector<place_gauges> by_place_;  // in the order of content_place
};

}  // namespace restante
