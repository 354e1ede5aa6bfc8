#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace restante::client {

// Text from outside for a terminal or a line: no control characters, none that turn the direction of what
// follows, no invalid UTF-8; a tab is a space. Cut after `most` bytes.
std::string printable(std::string_view text, std::size_t most = 300);

// The same for text of several lines, which stay lines.
std::string printable_lines(std::string_view text);

// How many columns of a terminal a printable text takes.
std::size_t columns(std::string_view text);

// Exactly `width` columns of a printable text: cut with an ellipsis, or filled with spaces.
std::string fitted(std::string_view text, std::size_t width);

}  // namespace restante::client
