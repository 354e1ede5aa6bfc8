#pragma once

#include "sweeper/content_janitor.hpp"
#include "sweeper/content_remover.hpp"
#include "sweeper/gauges.hpp"
#include "sweeper/quota_watch.hpp"
#include "sweeper/sweeper.hpp"

namespace restante {

// Background work for the whole database rather than for a request. It runs on one shard.
class housekeeping {
public:
    housekeeping(pq::connection_pool& db, metric_set& metrics, const retention_policy& policy,
                 quota_store& quotas, content_stores& contents, live_event_listener* listener)
        : sweeper_(db, metrics, policy, {}, listener),
          gauges_(db, metrics),
          quotas_(quotas, metrics),
          remover_(db, contents, metrics),
          janitor_(db, contents)
    {
    }

    // They run until a stop is requested; one that throws is logged, counted and restarted.
    void start(task_group& tasks)
    {
        tasks.spawn_supervised("sweeper", [this, &tasks] { return sweeper_.run(tasks); });
        tasks.spawn_supervised("gauges", [this, &tasks] { return gauges_.run(tasks); });
        tasks.spawn_supervised("quota_watch", [this, &tasks] { return quotas_.run(tasks); });
        tasks.spawn_supervised("content_remover", [this, &tasks] { return remover_.run(tasks); });
        tasks.spawn_supervised("content_janitor", [this, &tasks] { return janitor_.run(tasks); });
    }

private:
    sweeper sweeper_;
    upload_gauges gauges_;
    quota_watch quotas_;
    content_remover remover_;
    content_janitor janitor_;
};

}  // namespace restante
