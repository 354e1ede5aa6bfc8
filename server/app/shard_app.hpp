#pragma once

#include "auth/authenticator.hpp"
#include "server/api/bearer_access.hpp"
#include "server/events/commit_subscribers.hpp"
#include "http/message/cors.hpp"
#include "http/session/http_session.hpp"
#include "server/events/hub.hpp"
#include "server/spool/spool_budget.hpp"
#include "server/events/parked_polls.hpp"
#include "server/api/operations/readiness.hpp"
#include "http/session/request_metrics.hpp"
#include "server/api/uploads/running_keys.hpp"
#include "server/api/operations/schema_watch.hpp"
#include "server/api/services.hpp"
#include "server/app/shard_set.hpp"
#include "server/api/uploads/upload_metrics.hpp"
#include "storage/bell.hpp"
#include "storage/fetch_stamps.hpp"
#include "storage/inbox_cursors.hpp"
#include "storage/staging.hpp"
#include "sweeper/housekeeping.hpp"

namespace restante {

// What the shards of a process have in common: counters, a set and boards, nothing that anybody waits for.
struct shared_state {
    spool_budget& spools;
    running_keys& keys;
    bulletin_board& bulletin;
    commit_board& commits;
    bool registration_open;
};

// The objects that one shard serves requests with, built bottom-up: each refers only to those above it.
class shard_app {
public:
    shard_app(const settings& config, const std::string& conninfo, shared_state shared, shard& home,
              shard_set& all);
    shard_app(const shard_app&) = delete;
    shard_app& operator=(const shard_app&) = delete;

    // Spawns what runs for as long as the shard does.
    void start();

    // What another server has done, on this shard's thread.
    void hear(const bell_news& news);

    const services& provided() const { return services_; }
    const session_environment& public_side() const { return public_; }
    const session_environment& metrics_side() const { return metrics_; }

private:
    awaitable<void> end_pool_last();

    task_group& background_;
    task_group writers_;  // they need the pool for their last words
    pq::connection_pool db_;
    readiness readiness_;
    schema_watch schema_;
    activity_feed feed_;
    feed_tail tail_;
    hub events_;
    parked_polls polls_;
    commit_fanout commits_;
    pending_uploads uploads_;
    fetch_stamps stamps_;
    inbox_cursors cursors_;
    activity_log activity_;
    upload_requests requests_;
    staging staging_;
    upload_metrics uploads_seen_;
    workspace_store workspaces_;
    token_store tokens_;
    authenticator auth_;
    bearer_access access_;
    services services_;
    cors_policy cors_;
    request_metrics public_requests_;
    request_metrics metrics_requests_;
    session_environment public_;
    session_environment metrics_;
    std::unique_ptr<housekeeping> housekeeping_;  // in the first shard only
};

}  // namespace restante
