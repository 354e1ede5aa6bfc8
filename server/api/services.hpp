#pragma once

#include "core/asio.hpp"
#include "core/metrics.hpp"
#include "cli/settings.hpp"
#include "core/task_group.hpp"
#include "server/api/operations/readiness.hpp"

#include <functional>
#include <string>

namespace restante {

class access_policy;
class activity_feed;
class activity_log;
class authenticator;
class bulletin_board;
class fetch_stamps;
class hub;
class inbox_cursors;
class parked_polls;
class pending_uploads;
class running_keys;
class spool_budget;
class staging;
class token_store;
class upload_metrics;
class workspace_store;

// What handlers work with: the objects of their shard, built before it and living longer.
struct services {
    executor ex;
    const settings& config;
    metrics& counts;
    task_group& requests;    // every session; its stop_callback tells a parked request that the server stops
    task_group& background;  // what outlives a request; it ends after the last of them
    const readiness& ready;
    access_policy* access;  // null where every route is open
    authenticator& auth;
    const bulletin_board& bulletin;
    workspace_store& workspaces;
    token_store& tokens;
    spool_budget& spools;
    running_keys& keys;
    staging& stage;
    upload_metrics& uploads_seen;
    pending_uploads& uploads;
    fetch_stamps& stamps;
    inbox_cursors& cursors;
    activity_log& activity;
    activity_feed& feed;
    parked_polls& polls;
    hub& events;

    // The figures of all shards added up, in Prometheus' text format. Errors: shutting_down, no_room (a shard
    // did not answer in time).
    std::function<awaitable<result<std::string>>()> scrape;
};

}  // namespace restante
