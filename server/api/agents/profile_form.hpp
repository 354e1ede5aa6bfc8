#pragma once

#include "http/message/public_errors.hpp"
#include "storage/workspace_directory.hpp"

#include <boost/json/value.hpp>

namespace restante {

// The body of PATCH /workspaces/{id}: `name` and `role`. Where a canvas draws a workspace (`x`, `y`,
// `collapsed`) is accepted and not kept; so is, from the admin alone, what belongs to platforms that start
// agents. Refusals: bad_request, forbidden.
answerable<profile_change> read_profile_change(const boost::json::value& body, const uuid& workspace,
                                               bool is_admin);

// The body of POST /workspaces, checked; its id and secret are made elsewhere. `name` is required. Without a
// `url` the workspace polls, with one it is called. Refusals: bad_request.
answerable<new_workspace> read_new_workspace(const boost::json::value& body);

}  // namespace restante
