#pragma once

#include "core/clock.hpp"
#include "storage/presence.hpp"
#include "storage/quota_store.hpp"
#include "storage/unacked.hpp"

#include <string>
#include <vector>

namespace restante {

struct database_facts {
    std::string name;
    std::string version;
    std::int64_t bytes = 0;
    std::int64_t schema = 0;
    timestamp now{};
};

struct workspace_counts {
    std::int64_t poll = 0;
    std::int64_t push = 0;  // legacy rows without a mode among them
    std::int64_t removed = 0;
    presence_counts agents;
};

// Rows whose removal is only a matter of time. Counting stops at `most`.
struct leaving_counts {
    static constexpr std::int64_t most = 10'000;
    std::int64_t acked = 0;
    std::int64_t expired = 0;
};

struct last_sweep {
    std::optional<timestamp> started_at;
    std::optional<timestamp> finished_at;
    std::int64_t acked = 0;
    std::int64_t expired = 0;
    std::optional<std::string> error;
};

// A server that is connected to this database.
struct replica {
    std::string name;
    std::string address;  // "local" for a unix socket
    std::int64_t connections = 0;
    timestamp since{};
};

// What an operator wants to see at a glance.
struct status_report {
    database_facts database;
    workspace_counts workspaces;
    unacked_uploads waiting;
    leaving_counts leaving;
    std::optional<fullest_workspace> fullest;  // nothing when nothing waits, or too much to tell
    last_sweep sweep;
    std::vector<replica> replicas;
};

// What servers name their sessions, so that each can be identified: this and then the replica's name.
inline constexpr std::string_view replica_prefix = "restante serve ";

// Fails with schema_missing when the schema is not there or too old, and with the errors of the pool.
awaitable<result<status_report>> read_status(pq::connection_pool& db, quota_limits defaults);

}  // namespace restante
