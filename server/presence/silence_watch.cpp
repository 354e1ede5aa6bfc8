#include "server/presence/silence_watch.hpp"

#include "core/log.hpp"
#include "server/presence/presence_events.hpp"

namespace restante {

namespace {

metric_set::number& gauge_of(metric_set& metrics, std::string_view status)
{
    return metrics.gauge("molecule_workspaces", "Workspaces by what is known of their agents.",
                         {{"status", status}});
}

}  // namespace

silence_watch::silence_watch(presence_store& store, live_event_listener& events, metric_set& metrics,
                             const presence_policy& policy, const clock& time)
    : store_(store),
      events_(events),
      policy_(policy),
      time_(time),
      listening_since_(time.now()),
      last_search_(time.now()),
      last_search_wall_(std::chrono::system_clock::now()),
      awaited_(gauge_of(metrics, "awaiting_agent")),
      online_(gauge_of(metrics, "online")),
      degraded_(gauge_of(metrics, "degraded")),
      offline_(gauge_of(metrics, "offline")),
      went_offline_(metrics.counter("molecule_workspaces_went_offline_total",
                                    "Workspaces that this server has found silent."))
{
}

awaitable<void> silence_watch::run(task_group& tasks)
{
    const task_group::stop_callback stop(tasks, [this] { pace_.hurry(); });
    while (!co_await tasks.stopped_within(policy_.search_interval()))
        co_await search();
}

awaitable<void> silence_watch::search()
{
    if (stood_still())
        listening_since_ = time_.now();

    error_code failure;
    if (time_.now() - listening_since_ >= policy_.timeout)
        failure = co_await mark_silent();
    if (!failure)
        failure = co_await count();
    if (!failure)
        co_return;
    listening_since_ = time_.now();
    log_line(log_level::debug, "presence_not_searched").failure(failure);
}

bool silence_watch::stood_still()
{
    const auto most = 2 * policy_.search_interval() + std::chrono::seconds(1);
    const auto now = time_.now();
    const auto wall = std::chrono::system_clock::now();
    return now - std::exchange(last_search_, now) > most ||
           wall - std::exchange(last_search_wall_, wall) > most;
}

awaitable<error_code> silence_watch::mark_silent()
{
    for (;;) {
        const auto marked = co_await store_.mark_silent(policy_.timeout);
        if (!marked)
            co_return marked.error();
        for (const auto& workspace : *marked) {
            report_offline(workspace);
            co_await pace_.reported();
        }
        if (marked->empty())
            co_return error_code{};
        // Reporting many takes its time, in which it could have been stopped like between two searches.
        if (stood_still()) {
            listening_since_ = time_.now();
            co_return error_code{};
        }
    }
}

void silence_watch::report_offline(const uuid& workspace)
{
    went_offline_.add();
    events_.on_live_event(bare_event(workspace, "WORKSPACE_OFFLINE"));
    log_line(log_level::info, "workspace_presence")
        .field("workspace_id", workspace)
        .field("status", "offline");
}

awaitable<error_code> silence_watch::count()
{
    const auto now = co_await store_.counts();
    if (!now)
        co_return now.error();
    awaited_.set(static_cast<double>(now->awaited));
    online_.set(static_cast<double>(now->online));
    degraded_.set(static_cast<double>(now->degraded));
    offline_.set(static_cast<double>(now->offline));
    co_return error_code{};
}

}  // namespace restante
