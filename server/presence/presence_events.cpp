#include "server/presence/presence_events.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace restante {

namespace {

namespace json = boost::json;

using shared_live_event = std::shared_ptr<const live_event>;

shared_live_event make(const uuid& workspace, std::string name, const json::object& payload)
{
    const auto now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
    return std::make_shared<const live_event>(live_event{
        .workspace = workspace, .name = std::move(name), .payload = json::serialize(payload), .at = now});
}

}  // namespace

std::vector<shared_live_event> events_of(const presence_change& change)
{
    std::vector<shared_live_event> events;
    if (change.before != change.after && change.after == "online")
        events.push_back(make(change.workspace, "WORKSPACE_ONLINE",
                              {{"name", change.name},
                               {"delivery_mode", change.delivery_mode},
                               {"recovered_from", change.before}}));
    if (change.before != change.after && change.after == "degraded")
        events.push_back(make(change.workspace, "WORKSPACE_DEGRADED",
                              {{"error_rate", change.error_rate}, {"sample_error", change.sample_error}}));
    if (change.task_changed)
        events.push_back(
            make(change.workspace, "TASK_UPDATED",
                 {{"current_task", change.current_task}, {"active_tasks", change.active_tasks}}));
    return events;
}

shared_live_event online_event(const uuid& workspace, std::string_view name, std::string_view delivery_mode)
{
    return make(workspace, "WORKSPACE_ONLINE", {{"name", name}, {"delivery_mode", delivery_mode}});
}

shared_live_event idle_event(const uuid& workspace)
{
    return make(workspace, "TASK_UPDATED", {{"current_task", ""}, {"active_tasks", 0}});
}

shared_live_event bare_event(const uuid& workspace, std::string name)
{
    return make(workspace, std::move(name), {});
}

}  // namespace restante
