#pragma once

#include "core/metrics.hpp"
#include "core/task_group.hpp"
#include "storage/quota_store.hpp"

namespace restante {

// How full the fullest workspace is, for dashboards and alerts; and, every minute, a look at the estimates
// that this begins with. Like the gauges of pending work it describes the whole database.
class quota_watch {
public:
    static constexpr auto interval = std::chrono::seconds(15);

    quota_watch(quota_store& quotas, metric_set& metrics);

    // A figure that cannot be read keeps its last value.
    awaitable<void> run(task_group& tasks);

    awaitable<error_code> refresh();
    awaitable<error_code> recount();

private:
    quota_store& quotas_;
    metric_set::number& fullest_;
};

}  // namespace restante
