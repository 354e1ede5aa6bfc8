#pragma once

#include "core/asio.hpp"
#include "storage/migration_plan.hpp"
#include "storage/pq/connection.hpp"

#include <functional>
#include <optional>

namespace restante {

struct migration_request {
    std::optional<int> target;  // the newest when none is named
    bool dry_run = false;
};

// Brings the schema to a version, each step in a transaction of its own with its row in schema_migrations.
// Runs under an advisory lock: of several servers that start on an empty database one works and the others
// find it done. `report` is called before each step. Gives the number of steps.
awaitable<startup_result<int>> migrate(pq::connection& session, migration_request request,
                                       std::function<void(const migration_step&)> report);

// Rows in tables that going down to the target drops: files that are neither acked nor expired, activity,
// workspaces.
struct migration_losses {
    std::int64_t files = 0;
    std::int64_t activity = 0;
    std::int64_t workspaces = 0;

    bool any() const { return files + activity + workspaces > 0; }
};

// What a migration would lose; nothing when it goes up.
awaitable<startup_result<migration_losses>> count_losses(pq::connection& session, std::optional<int> target);

// The version a database is at, 0 when it has no schema; and the version this binary needs.
awaitable<startup_result<int>> schema_version(pq::connection& session);
int newest_schema_version();

}  // namespace restante
