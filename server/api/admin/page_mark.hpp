#pragma once

#include "storage/waiting_list.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace restante {

// Where the next page of a list begins, as clients pass it back: "<rank>.<workspace>", or the workspace
// alone.
std::string write_page_mark(const waiting_place& place);
std::optional<waiting_place> parse_page_mark(std::string_view text);

}  // namespace restante
