#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"
#include "storage/activity.hpp"
#include "storage/pq/pool.hpp"
#include "storage/pq/transaction.hpp"

#include <vector>

namespace restante {

// The one way into the feed. Rows get dense numbers per workspace, in commit order, from the head row that the
// SQL function publish_activity() locks; whoever is writing to the same workspace waits for our COMMIT. So it is
// the last thing a transaction does before it.
class activity_log {
public:
    activity_log(pq::connection_pool& db, commit_listener& listener) : db_(db), listener_(listener) {}

    // In a transaction of its own; the listener hears of it after the commit.
    awaitable<result<void>> log_activity(activity row);

    // Queues rows of one workspace in the caller's transaction, and a hook that tells the listener once it is
    // committed. Several workspaces in one transaction must come in the order of their ids. Tells the place of
    // the statement among the results of commit().
    std::size_t log_activity_tx(pq::transaction& tx, std::vector<activity> rows);

private:
    pq::connection_pool& db_;
    commit_listener& listener_;
};

}  // namespace restante
