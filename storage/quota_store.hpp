#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"
#include "core/ids.hpp"
#include "storage/pq/pool.hpp"
#include "storage/quota.hpp"

#include <vector>

namespace restante {

// What is to become of a workspace's own limits: absent stays as it is, an empty value is the default again.
struct quota_change {
    std::optional<std::optional<std::int64_t>> bytes = {};
    std::optional<std::optional<std::int64_t>> files = {};
};

struct fullest_workspace {
    uuid id{};
    double share = 0;
};

struct waiting_for {
    uuid workspace{};
    quota_use used = {};
};

// Quotas in PostgreSQL; publish_counted() enforces them. Errors are those of the pool, and
// workspace_not_found where a workspace is named.
class quota_store {
public:
    // The limits are for workspaces that have none of their own.
    quota_store(pq::connection_pool& db, quota_limits defaults) : db_(db), defaults_(defaults) {}

    // What waits at this moment, counted.
    awaitable<result<workspace_quota>> read(uuid workspace);
    // The same at the price of one row, and perhaps too much: acks and expiry are left out.
    awaitable<result<workspace_quota>> estimate(uuid workspace);

    awaitable<result<void>> change(uuid workspace, quota_change what);

    // The workspace that is nearest to one of its limits; nothing when nothing waits.
    awaitable<result<std::optional<fullest_workspace>>> fullest();

    // Corrects, a few at a time, the estimates that may be too far off. Resumes where the last call had to
    // stop.
    awaitable<error_code> recount_some();
    bool has_more_to_recount() const { return recounted_to_ != uuid{}; }

    // All workspaces that something waits for, in no order. Reads all rows of what waits: for people.
    awaitable<result<std::vector<waiting_for>>> all_waiting();

    const quota_limits& defaults() const { return defaults_; }
    void set_defaults(quota_limits defaults) { defaults_ = defaults; }

private:
    awaitable<result<workspace_quota>> read_with(const statement& what, uuid workspace);

    pq::connection_pool& db_;
    quota_limits defaults_;
    uuid recounted_to_{};
};

}  // namespace restante
