#pragma once

#include "http/message/public_errors.hpp"
#include "storage/activity.hpp"

#include <boost/json/value.hpp>

#include <string_view>

namespace restante {

// The body of POST /workspaces/{id}/activity as a row of that workspace's feed. Bodies inside it are kept
// exactly as they came. `metadata` is what older clients report instead of a response_body; beside one it is
// kept as tool_trace. Refusals: bad_request with a sentence that names the field; forbidden when its source
// is another workspace.
answerable<activity> read_activity_report(const uuid& workspace, std::string_view text,
                                          const boost::json::value& body);

}  // namespace restante
