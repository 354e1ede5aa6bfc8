#pragma once

#include "server/public_errors.hpp"
#include "storage/activity.hpp"

#include <boost/json/value.hpp>

namespace restante {

// What a workspace reports of itself (POST /workspaces/{id}/activity) as a row of its feed. `metadata` is kept as
// the row's tool_trace. Refusals name the field; a source_id other than the workspace's own is forbidden.
answerable<activity> read_activity_report(const uuid& workspace, const boost::json::value& body);

// A JSON-RPC message for a workspace as a row of its feed: any object with a string `method`.
answerable<activity> read_a2a_message(const uuid& workspace, const boost::json::value& body);

}  // namespace restante
