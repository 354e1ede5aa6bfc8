#pragma once

#include "http/message/public_errors.hpp"
#include "storage/workspaces.hpp"

#include <boost/json/value.hpp>

namespace restante {

// The body of a registration, checked. An empty text counts as absent, as existing clients expect. A
// workspace that names no mode but a url is pushed to. Refusals: invalid_workspace_id, and bad_request with a
// sentence that names the field.
answerable<registration> read_registration(const boost::json::value& body);

// Whether this is an absolute http or https URL with a host and without a password, of at most 2048
// characters.
bool is_callback_url(std::string_view text);

}  // namespace restante
