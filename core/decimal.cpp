#include "core/decimal.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace restante {

namespace {

bool is_all_digits(std::string_view text)
{
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::optional<std::uint64_t> parse_decimal(std::string_view text) noexcept
{
    if (!is_all_digits(text))
        return std::nullopt;
    std::uint64_t value = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
    return ec == std::errc() ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> parse_signed_decimal(std::string_view text) noexcept
{
    const auto value = parse_decimal(text);
    if (!value || *value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        return std::nullopt;
    return static_cast<std::int64_t>(*value);
}

std::optional<std::uint64_t> parse_capped(std::string_view text, std::uint64_t most) noexcept
{
    if (!is_all_digits(text))
        return std::nullopt;
    return std::min(parse_decimal(text).value_or(most), most);
}

}  // namespace restante
