#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace restante {

// "image/png" or "image/*", at most 127 characters.
bool is_type_pattern(std::string_view text);

// Whether a media type (core/file_names' normalize_mimetype) matches one of the patterns, in upper or lower
// case. An empty type is unknown and matches none.
bool matches_type(const std::vector<std::string>& patterns, std::string_view type);

}  // namespace restante
