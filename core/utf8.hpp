#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace restante {

// Length of the well-formed UTF-8 sequence at the start of the text: 1 to 4, or 0 if there is none. Overlong
// forms, surrogates and code points above U+10FFFF are not well-formed.
std::size_t utf8_length(std::string_view text) noexcept;

// The longest prefix of at most `limit` bytes that does not end inside a code point.
std::string_view utf8_prefix(std::string_view text, std::size_t limit) noexcept;

bool is_utf8(std::string_view text) noexcept;

// With U+FFFD in place of each byte that is none of a well-formed sequence.
std::string as_utf8(std::string_view text);

}  // namespace restante
