#pragma once

#include "storage/live_event.hpp"
#include "storage/presence.hpp"

#include <memory>
#include <string_view>
#include <vector>

namespace restante {

// The events of one change: WORKSPACE_ONLINE or WORKSPACE_DEGRADED, then TASK_UPDATED.
std::vector<std::shared_ptr<const live_event>> events_of(const presence_change& change);

// WORKSPACE_ONLINE of an agent that has registered.
std::shared_ptr<const live_event> online_event(const uuid& workspace, std::string_view name,
                                               std::string_view delivery_mode);

// TASK_UPDATED of an agent that has registered, and so has no task yet.
std::shared_ptr<const live_event> idle_event(const uuid& workspace);

// WORKSPACE_OFFLINE and WORKSPACE_REMOVED, whose payload is empty.
std::shared_ptr<const live_event> bare_event(const uuid& workspace, std::string name);

}  // namespace restante
