#pragma once

#include "core/asio.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/ids.hpp"
#include "storage/pq/pool.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace restante {

// What a heartbeat says of its agent besides that it lives; what is absent is zero.
struct agent_report {
    double error_rate = 0;  // from 0 to 1, kept to six digits
    std::string sample_error;
    std::int64_t active_tasks = 0;
    std::string current_task;
    std::string runtime_state;  // "wedged", or empty

    bool operator==(const agent_report&) const = default;
};

// A workspace was heard of so long ago. What is absent stays as it is, and so does what a report says that is
// older than what has been heard of the workspace since.
struct presence_sign {
    uuid workspace{};
    std::chrono::milliseconds age{};
    std::optional<std::int64_t> uptime_seconds = {};
    std::optional<agent_report> report = {};
};

// What a sign changed.
struct presence_change {
    uuid workspace{};
    std::string name;
    std::string delivery_mode;
    std::string before;  // status
    std::string after;
    bool task_changed = false;
    double error_rate = 0;
    std::string sample_error;
    std::string current_task;
    std::int64_t active_tasks = 0;
};

struct presence_counts {
    std::int64_t awaited = 0;
    std::int64_t online = 0;
    std::int64_t degraded = 0;
    std::int64_t offline = 0;
};

// Which workspaces are there. Times are those of the database: what is passed in is how long ago. Every call
// fails with an error of the pool when the database could not be queried, and with schema_missing before
// migration 10.
class presence_store {
public:
    explicit presence_store(pq::connection_pool& db) : db_(db) {}

    // Writes all signs in one statement and returns those that changed a status or the current task. Removed
    // workspaces are left alone. Each workspace may stand in it once.
    awaitable<result<std::vector<presence_change>>> record(std::span<const presence_sign> signs);

    // Marks workspaces offline that have been silent for so long, at most `batch_size` of them, and returns
    // those that this call has marked: of any number of servers that do this at once, one gets each. Few, so
    // that whoever reports them is not overtaken by one of them that returns.
    static constexpr int batch_size = 100;
    awaitable<result<std::vector<uuid>>> mark_silent(std::chrono::milliseconds timeout);

    awaitable<result<presence_counts>> counts();

private:
    pq::connection_pool& db_;
};

}  // namespace restante
