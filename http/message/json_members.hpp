#pragma once

#include <optional>
#include <string_view>

namespace restante {

// The value of a member of a JSON object exactly as it was written, so that it can be stored unchanged: a
// parsed tree loses how a number was spelled. `object` must be an object that parse_json() has accepted.
std::optional<std::string_view> json_member(std::string_view object, std::string_view name);

}  // namespace restante
