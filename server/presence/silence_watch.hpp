#pragma once

#include "core/metrics.hpp"
#include "core/task_group.hpp"
#include "server/presence/event_pace.hpp"
#include "server/presence/presence_policy.hpp"
#include "storage/live_event.hpp"
#include "storage/presence.hpp"

namespace restante {

// Marks silent workspaces offline and counts who is there. Every process runs one, on one shard; the
// statement that marks a workspace decides which of them reports it.
//
// A server that could not have heard a workspace must not call it silent: after its start, a failure of the
// database or a pause of the whole process (a laptop that slept), it first listens for a timeout.
class silence_watch {
public:
    silence_watch(presence_store& store, live_event_listener& events, metric_set& metrics,
                  const presence_policy& policy, const clock& time = real_clock());

    awaitable<void> run(task_group& tasks);

    // One search, if it has listened for long enough, and the count.
    awaitable<void> search();

private:
    bool stood_still();
    awaitable<error_code> mark_silent();
    awaitable<error_code> count();
    void report_offline(const uuid& workspace);

    presence_store& store_;
    live_event_listener& events_;
    presence_policy policy_;
    const clock& time_;
    clock::time_point listening_since_;
    clock::time_point last_search_;
    std::chrono::system_clock::time_point last_search_wall_;  // goes on while the machine sleeps
    event_pace pace_;
    metric_set::number& awaited_;
    metric_set::number& online_;
    metric_set::number& degraded_;
    metric_set::number& offline_;
    metric_set::number& went_offline_;
};

}  // namespace restante
