#pragma once

#include "core/asio.hpp"
#include "storage/migration_plan.hpp"
#include "storage/pq/connection.hpp"

#include <functional>
#include <optional>
#include <string>

namespace restante {

// What going down to a target deletes or revokes: files that are neither acked nor expired, activity,
// workspaces, receipts, kept cursors, live tokens and grants with a scope or an end, limits of workspaces.
struct migration_losses {
    std::int64_t files = 0;
    std::int64_t activity = 0;
    std::int64_t workspaces = 0;
    std::int64_t receipts = 0;
    std::int64_t cursors = 0;
    std::int64_t tokens = 0;
    std::int64_t limits = 0;

    bool any() const { return files + activity + workspaces + receipts + cursors + tokens + limits > 0; }
};

struct migration_request {
    std::optional<int> target;  // the newest when none is named
    bool dry_run = false;
    // Called before the first step if anything would be lost. What it returns, if anything, is why nothing
    // is done.
    std::function<std::optional<std::string>(const migration_losses&)> object = {};
};

// Brings the schema to a version, each step in a transaction of its own with its row in schema_migrations.
// Runs under an advisory lock: of several servers that start on an empty database one works and the others
// find it done; what would be lost is counted under it, too. `report` is called before each step. Gives the
// number of steps.
awaitable<startup_result<int>> migrate(pq::connection& session, migration_request request,
                                       std::function<void(const migration_step&)> report);

// The version a database is at, 0 when it has no schema; and the version this binary needs.
awaitable<startup_result<int>> schema_version(pq::connection& session);
int newest_schema_version();

}  // namespace restante
