#pragma once

#include "http/message/public_errors.hpp"
#include "storage/quota_store.hpp"

#include <boost/json/value.hpp>

namespace restante {

// {"max_bytes", "max_files"}: a number, 0 for no limit, or null for the default. What is absent stays as it
// is.
answerable<quota_change> read_quota_change(const boost::json::value& body);

// What is used, the limits in force, and which of them are the workspace's own.
boost::json::object quota_json(const workspace_quota& now);

}  // namespace restante
