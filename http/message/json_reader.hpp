#pragma once

#include "core/error.hpp"

#include <boost/json/value.hpp>

#include <string_view>

namespace restante {

// One JSON value and nothing else: at most 32 deep, valid UTF-8, no byte order mark, no comments, no key
// twice in one object (two readers could take different ones). Error: malformed_json.
result<boost::json::value> parse_json(std::string_view text);

// Accepts the same texts and builds no tree: a text of megabytes costs eight bytes for each key, at most.
// Error: malformed_json.
result<void> check_json(std::string_view text);

}  // namespace restante
