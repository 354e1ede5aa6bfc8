#pragma once

#include "storage/activity_log.hpp"
#include "storage/pq/pool.hpp"
#include "storage/upload_requests.hpp"

namespace restante {

// Finds out what became of a transaction whose COMMIT was sent and never answered, by the fence row that it
// wrote (storage/upload_requests).
class commit_recovery {
public:
    using clock = std::chrono::steady_clock;

    commit_recovery(executor ex, pq::connection_pool& db, activity_log& activity, upload_requests& requests)
        : ex_(ex), db_(db), activity_(activity), requests_(requests)
    {
    }

    // When the files expire if it committed; the subscribers are notified of its rows then. Errors:
    // database_unavailable (it did not commit and never will), commit_outcome_unknown (nobody could say in
    // time). Ends the session of a connection that fell silent first, or the question would wait for its
    // locks.
    awaitable<result<timestamp>> settle(pq::transaction lost, uuid workspace, std::string fence,
                                        activity_rows rows, clock::time_point give_up_at);

private:
    executor ex_;
    pq::connection_pool& db_;
    activity_log& activity_;
    upload_requests& requests_;
};

}  // namespace restante
