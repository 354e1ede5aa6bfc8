#include "http/session/chunk_line.hpp"

#include "http/message/request_gate.hpp"

#include <algorithm>

namespace restante {

namespace {

constexpr std::size_t most_digits = 16;  // of 64 bits; more are leading zeros, which no honest client sends
constexpr std::string_view line_end = "\r\n";

bool is_hex_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool agree_as_far_as_they_go(std::string_view a, std::string_view b)
{
    const auto common = std::min(a.size(), b.size());
    return a.substr(0, common) == b.substr(0, common);
}

}  // namespace

bool can_become_chunk_line(std::string_view received, bool after_chunk) noexcept
{
    if (after_chunk) {
        if (!agree_as_far_as_they_go(received, line_end))
            return false;
        received.remove_prefix(std::min(received.size(), line_end.size()));
    }
    const auto after_size = std::find_if_not(received.begin(), received.end(), is_hex_digit);
    const auto digits = static_cast<std::size_t>(after_size - received.begin());
    if (digits > most_digits)
        return false;
    received.remove_prefix(digits);
    if (received.empty())
        return true;
    if (digits == 0)
        return false;

    constexpr std::string_view may_follow = "; \t\r";
    const auto extensions = received.substr(0, received.find('\r'));
    return may_follow.find(received.front()) != std::string_view::npos &&
           is_acceptable_chunk_extension(extensions) &&
           agree_as_far_as_they_go(received.substr(extensions.size()), line_end);
}

}  // namespace restante
