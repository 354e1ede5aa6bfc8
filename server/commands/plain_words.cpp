#include "server/commands/plain_words.hpp"

#include <cstdio>

namespace restante {

std::string in_words(std::chrono::seconds age)
{
    const auto seconds = age.count() < 0 ? 0 : age.count();
    if (seconds < 60)
        return std::to_string(seconds) + " s";
    if (seconds < 3600)
        return std::to_string(seconds / 60) + " min";
    if (seconds < 48 * 3600)
        return std::to_string(seconds / 3600) + " h " + std::to_string(seconds / 60 % 60) + " min";
    return std::to_string(seconds / 86400) + " days";
}

std::string in_bytes(std::int64_t bytes)
{
    if (bytes < 1024)
        return counted(bytes, "byte", "bytes");
    constexpr const char* units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    auto value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    // 1023.95 would be shown as 1024.0.
    for (; value >= 1023.95; value /= 1024)
        ++unit;
    char text[32];
    std::snprintf(text, sizeof text, value < 9.95 ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return text;
}

std::string with_separators(std::int64_t number)
{
    auto text = std::to_string(number);
    const std::size_t first = number < 0 ? 1 : 0;
    for (std::size_t at = text.size(); at > first + 3;) {
        at -= 3;
        text.insert(at, ",");
    }
    return text;
}

std::string counted(std::int64_t number, const char* one, const char* many)
{
    return with_separators(number) + ' ' + (number == 1 ? one : many);
}

}  // namespace restante
