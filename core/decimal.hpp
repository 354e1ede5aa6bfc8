#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace restante {

// The one reader of decimal numbers: digits and nothing else, no sign, no blanks. None of these throws.

// Nothing when the text is empty, holds anything but digits, or does not fit into 64 bits.
std::optional<std::uint64_t> parse_decimal(std::string_view text) noexcept;

// The same for numbers that are kept signed, as sequence numbers are.
std::optional<std::int64_t> parse_signed_decimal(std::string_view text) noexcept;

// A number of any length, reduced to `most` when it is larger.
std::optional<std::uint64_t> parse_capped(std::string_view text, std::uint64_t most) noexcept;

}  // namespace restante
