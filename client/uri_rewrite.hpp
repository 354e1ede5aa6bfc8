#pragma once

#include "core/ids.hpp"

#include <boost/json/value.hpp>

#include <functional>
#include <optional>
#include <string>

namespace restante::client {

// The path of a file that was placed; nothing for one that is not known here.
using path_lookup = std::function<std::optional<std::string>(const uuid& file)>;

// Turns every `platform-pending:<workspace>/<file>` that stands where a message names a file into
// `workspace:<path>`: `uri` as in A2A 0.3 and `url` as in 1.0, at any depth. Text that merely mentions a URI
// is left alone, and so are files that are not known.
void rewrite_uris(boost::json::value& in, const path_lookup& find);

// The file of such a URI.
std::optional<uuid> pending_file(std::string_view uri);

// What a message says: its text parts, one per line.
std::string text_of_message(const boost::json::value& request_body);

}  // namespace restante::client
