#pragma once

#include "storage/status.hpp"

namespace restante {

// Counting stops at `most`.
struct bounded_workspaces {
    static constexpr std::int64_t most = 10'000;
    std::int64_t poll = 0;
    std::int64_t push = 0;  // legacy rows without a mode among them
    presence_counts agents;

    bool at_least() const { return poll + push >= most; }
};

// What an operator wants to see every few seconds. Unlike a status_report it costs the same however many
// files and workspaces there are.
struct overview_report {
    database_facts database;
    bounded_workspaces workspaces;
    unacked_uploads waiting;
    last_sweep sweep;
    std::vector<replica> replicas;
};

// Fails with schema_missing when the schema is not there or too old, and with the errors of the pool.
awaitable<result<overview_report>> read_overview(pq::connection_pool& db);

}  // namespace restante
