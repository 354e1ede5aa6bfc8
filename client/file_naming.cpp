#include "client/file_naming.hpp"

#include "core/file_names.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>

namespace restante::client {

namespace {

bool is_windows_device(std::string_view name)
{
    const auto stem = name.substr(0, name.find('.'));
    constexpr std::array<std::string_view, 4> plain{"con", "prn", "aux", "nul"};
    if (std::any_of(plain.begin(), plain.end(), [&](auto each) { return iequals(stem, each); }))
        return true;
    return stem.size() == 4 && (istarts_with(stem, "com") || istarts_with(stem, "lpt")) && stem[3] >= '0' &&
           stem[3] <= '9';
}

}  // namespace

std::string safe_name(std::string_view from_server)
{
    auto name = sanitize_filename(from_server);
    if (name.front() == '.')
        name.front() = '_';
    if (is_windows_device(name))
        name.insert(name.begin(), '_');
    return name;
}

std::string numbered_name(std::string_view name, unsigned number)
{
    if (number <= 1)
        return std::string(name);
    auto dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0)
        dot = name.size();
    return std::string(name.substr(0, dot)) + " (" + std::to_string(number) + ')' +
           std::string(name.substr(dot));
}

std::string free_names::reserve(const std::string& wanted, const exists& taken)
{
    const auto is_free = [&](const std::string& name) { return !reserved_.contains(name) && !taken(name); };
    if (is_free(wanted)) {
        last_number_.erase(wanted);
        reserved_.insert(wanted);
        return wanted;
    }
    auto& number = last_number_.try_emplace(wanted, 1).first->second;
    for (;;) {
        auto name = numbered_name(wanted, ++number);
        if (!is_free(name))
            continue;
        reserved_.insert(name);
        return name;
    }
}

}  // namespace restante::client
