#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace restante {

// Lower-case hexadecimal.
std::string to_hex(std::span<const unsigned char> bytes);

// Digits of either case, as many as fill the bytes; false for anything else.
bool from_hex(std::string_view text, std::span<unsigned char> bytes);
// The same for any even number of digits.
std::optional<std::string> from_hex(std::string_view text);

// RFC 4648 base64 with padding.
std::string to_base64(std::span<const unsigned char> bytes);

// RFC 4648 base64url without padding: safe in a header, a URL and a WebSocket sub-protocol.
std::string to_base64url(std::span<const unsigned char> bytes);

// The strict inverse of to_base64url: padding, characters outside the alphabet, an impossible length and
// non-zero trailing bits are rejected, so that each value has exactly one spelling.
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace restante
