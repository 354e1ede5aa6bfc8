#pragma once

#include "core/task_group.hpp"
#include "server/api/operations/readiness.hpp"
#include "storage/pq/pool.hpp"

namespace restante {

// Monitors the two things without which a shard cannot work, for /readyz: a database that answers and is
// safe, and the schema that this binary was built for.
class schema_watch {
public:
    schema_watch(pq::connection_pool& db, readiness& ready);

    // Checks every two seconds while something is wrong and every half minute otherwise; ends when the group
    // stops.
    awaitable<void> run(task_group& tasks);

private:
    awaitable<std::optional<std::string>> look();

    pq::connection_pool& db_;
    std::optional<std::string> reason_ = "the schema has not been checked yet";
};

}  // namespace restante
