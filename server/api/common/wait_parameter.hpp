#pragma once

#include "core/decimal.hpp"

#include <chrono>
#include <optional>
#include <string_view>

namespace restante {

// `wait`: for how many seconds a request may be held. Anything above 55 means 55, which is below the idle
// limit of most proxies.
inline std::optional<std::chrono::seconds> parse_wait(std::string_view text)
{
    constexpr std::uint64_t most = 55;
    const auto seconds = parse_capped(text, most);
    if (!seconds)
        return std::nullopt;
    return std::chrono::seconds(*seconds);
}

}  // namespace restante
