#pragma once

#include "http/message/public_errors.hpp"
#include "storage/activity.hpp"

#include <boost/json/value.hpp>

#include <string_view>

namespace restante {

// The body of POST /workspaces/{id}/notify, {"message","attachments"?:[{"uri","name","mimeType"?,"size"?}]},
// as a row of that workspace's feed. A file that waits here, by its URI or its path, must be one of the
// workspace's own: the canvas fetches it with a token that opens every workspace, and would show another's
// file as this agent's. Other URIs are passed on as they are. Refusal: bad_request.
answerable<activity> read_notice(const uuid& workspace, std::string_view text,
                                 const boost::json::value& body);

}  // namespace restante
