#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"
#include "storage/activity.hpp"
#include "storage/pq/pool.hpp"
#include "storage/pq/transaction.hpp"
#include "storage/quota.hpp"

#include <vector>

namespace restante {

// The only way into the feed. Rows get dense numbers per workspace, in commit order, from the head row that
// the SQL function publish_counted() locks; other writers to the same workspace wait for our COMMIT. So it is
// the last step of a transaction before COMMIT.
class activity_log {
public:
    // The limits are for workspaces that have none of their own.
    activity_log(pq::connection_pool& db, commit_listener& listener, quota_limits limits = {})
        : db_(db), listener_(listener), limits_(limits)
    {
    }

    void set_limits(quota_limits limits) { limits_ = limits; }

    // In a transaction of its own; the listener is notified after the commit.
    awaitable<result<void>> log_activity(activity row);

    // Queues rows, of any workspaces, in the caller's transaction, and a hook that numbers them and notifies
    // the listener after COMMIT. Once in a transaction: a second call may lock heads against the order of
    // their ids, and two such transactions can deadlock.
    //
    // tokens[i] is the token that row i came with, file_bytes[i] the size of the file it is about; empty for
    // the server's own rows and for rows without files. The transaction fails with workspace_not_found when a
    // workspace was removed, invalid_token when a token was revoked, quota_exceeded when more files would
    // wait for a workspace than may.
    void log_activity_tx(pq::transaction& tx, activity_rows rows,
                         std::span<const std::optional<uuid>> tokens = {},
                         std::span<const std::optional<std::int64_t>> file_bytes = {});

    // Notifies the listener of rows whose COMMIT was confirmed by other means than its reply.
    awaitable<void> notify_committed(activity_rows rows);

    // Those of the workspaces whose head another transaction has locked at this moment.
    awaitable<result<std::vector<uuid>>> find_held_heads(std::span<const uuid> workspaces);

private:
    pq::connection_pool& db_;
    commit_listener& listener_;
    quota_limits limits_;
};

}  // namespace restante
