#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace restante {

// The source of "now" for caches and limiters, so that their tests can advance time instead of waiting.
class clock {
public:
    using time_point = std::chrono::steady_clock::time_point;

    virtual ~clock() = default;
    virtual time_point now() const = 0;
};

// std::chrono::steady_clock.
const clock& real_clock();

// A calendar time. Microseconds, as in PostgreSQL; unlike system_clock's nanoseconds they also cover the
// years 0000 to 9999 that RFC 3339 can express.
using timestamp = std::chrono::sys_time<std::chrono::microseconds>;

// "2026-11-16T01:02:03.123456Z": always UTC, always six digits. A time outside the years 0000–9999 is
// clamped.
std::string rfc3339(timestamp when);
void append_rfc3339(std::string& out, timestamp when);

inline std::string rfc3339(std::chrono::system_clock::time_point when)
{
    return rfc3339(std::chrono::floor<std::chrono::microseconds>(when));
}

// Parses a full RFC 3339 time with "Z" or an offset and returns it in UTC; digits beyond microseconds are
// truncated. Anything else is nullopt: a missing offset, a date that does not exist, second 60, trailing
// text.
std::optional<timestamp> parse_rfc3339(std::string_view text);

}  // namespace restante
