#pragma once

#include "auth/authenticator.hpp"
#include "cli/settings.hpp"
#include "http/client/http_client.hpp"
#include "http/message/cors.hpp"
#include "http/session/http_session.hpp"
#include "http/session/request_metrics.hpp"
#include "server/api/common/bearer_access.hpp"
#include "server/api/operations/readiness_board.hpp"
#include "server/api/operations/schema_watch.hpp"
#include "server/api/push/callback_lookups.hpp"
#include "server/api/push/push_metrics.hpp"
#include "server/api/route_table.hpp"
#include "server/api/uploads/quota_gate.hpp"
#include "server/api/uploads/running_keys.hpp"
#include "server/api/uploads/upload_metrics.hpp"
#include "server/app/content_setup.hpp"
#include "server/app/live_settings.hpp"
#include "server/app/shard_set.hpp"
#include "server/events/commit_subscribers.hpp"
#include "server/events/hub.hpp"
#include "server/events/live_events.hpp"
#include "server/events/parked_polls.hpp"
#include "server/events/parked_receipts.hpp"
#include "server/presence/presence_writer.hpp"
#include "server/presence/silence_watch.hpp"
#include "server/series/series_recorder.hpp"
#include "server/spool/spool_budget.hpp"
#include "storage/chat_history.hpp"
#include "storage/doorbell_payload.hpp"
#include "storage/fetch_stamps.hpp"
#include "storage/inbox_cursors.hpp"
#include "storage/standby_contents.hpp"
#include "storage/standby_feed.hpp"
#include "storage/staging.hpp"
#include "storage/workspace_directory.hpp"
#include "sweeper/housekeeping.hpp"

namespace restante {

// What the shards of a process share: counters, a set and lists of subscribers; nothing here blocks for long.
struct shared_state {
    memory_budget& memory;
    spool_budget& spools;
    running_keys& keys;
    identity_notices& notices;
    commit_subscribers& commits;
    live_event_board& live;
    readiness_board& ready;
    std::shared_ptr<pq::newest_timeline> timelines;
    recent_series& recent;
    tokenless_policy without_token;
    tls_context push_tls;
    const std::string& openapi;
    const content_setup& content;
};

// The objects that one shard serves requests with, built bottom-up: each refers only to those above it.
class shard_app {
public:
    shard_app(const settings& config, const std::string& conninfo, shared_state shared, shard& home,
              shard_set& all);
    shard_app(const shard_app&) = delete;
    shard_app& operator=(const shard_app&) = delete;

    // Spawns the tasks that run for as long as the shard does.
    void start();

    // Applies the changes of another server, on this shard's thread.
    void apply_remote(const changes& what);

    // Takes over what can change while it runs, on this shard's thread.
    void apply(const live_settings& next);

    // What serves a listener, by whether its address is a loopback one.
    const session_environment& public_side(bool on_loopback) const
    {
        return on_loopback ? public_on_loopback_ : public_;
    }
    const session_environment& operator_side(bool on_loopback) const
    {
        return on_loopback ? operator_on_loopback_ : operator_;
    }

private:
    awaitable<void> end_pool_last();
    std::vector<std::string> degradations() const;

    task_group& background_;
    task_group writers_;  // they flush to the database when they stop
    pq::connection_pool db_;
    readiness readiness_;
    schema_watch schema_;
    std::unique_ptr<standby> standby_;  // null without --replica-url
    std::unique_ptr<standby_feed> standby_feed_;
    activity_feed feed_;
    chat_history chat_;
    feed_tail tail_;
    hub events_;
    parked_polls polls_;
    receipt_store receipts_;
    parked_receipts waiting_;
    head_check heads_;
    commit_publisher commits_;
    live_event_publisher live_;
    content_stores contents_;
    std::unique_ptr<standby_contents> standby_contents_;
    pending_uploads uploads_;
    fetch_stamps stamps_;
    inbox_cursors cursors_;
    activity_log activity_;
    upload_requests requests_;
    staging staging_;
    quota_store quotas_;
    quota_gate quota_gate_;
    figures_store figures_;
    waiting_list waiting_list_;
    upload_metrics upload_metrics_;
    workspace_store workspaces_;
    workspace_directory directory_;
    token_store tokens_;
    authenticator auth_;
    standing_tokens standing_;
    presence_store presence_;
    presence_notes signs_;
    presence_writer sign_writer_;
    cors_policy cors_;
    bearer_access access_;
    system_resolver names_;
    http_client client_;
    callback_lookups callbacks_;
    push_metrics push_metrics_;
    api_services services_;
    std::vector<route> public_routes_;
    std::vector<route> operator_routes_;
    request_metrics public_metrics_;
    request_metrics operator_metrics_;
    host_check loopback_hosts_;
    host_check public_hosts_;
    session_environment public_;
    session_environment public_on_loopback_;
    session_environment operator_;
    session_environment operator_on_loopback_;
    // In the first shard only:
    std::unique_ptr<housekeeping> housekeeping_;
    std::unique_ptr<silence_watch> silence_;
    std::unique_ptr<series_recorder> series_;
};

}  // namespace restante
