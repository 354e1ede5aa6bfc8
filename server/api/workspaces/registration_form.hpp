#pragma once

#include "http/message/public_errors.hpp"
#include "storage/workspaces.hpp"

#include <boost/json/value.hpp>

namespace restante {

// The body of a registration, checked. An empty text counts as absent, as existing clients expect. A
// workspace that names no mode but a url is pushed to. Refusals: invalid_workspace_id, and bad_request with a
// sentence that names the field.
answerable<registration> read_registration(const boost::json::value& body);

// The rule that ties mode and url together, for requests and for the command line alike.
enum class delivery_fault { none, push_without_url, bad_url };
delivery_fault find_delivery_fault(delivery_mode mode, const std::optional<std::string>& url);

}  // namespace restante
