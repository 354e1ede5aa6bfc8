#include "server/api/common/type_patterns.hpp"

#include "core/file_names.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace restante {

namespace {

constexpr std::size_t longest = 127;

// The part before the `*` of "image/*"; empty for a pattern without one.
std::string_view wildcard_stem(std::string_view pattern)
{
    return pattern.ends_with("/*") ? pattern.substr(0, pattern.size() - 1) : std::string_view();
}

}  // namespace

bool is_type_pattern(std::string_view text)
{
    if (text.size() > longest || text.empty())
        return false;
    const auto stem = wildcard_stem(text);
    const auto type = stem.empty() ? std::string(text) : std::string(stem) + 'x';
    return type.find('*') == std::string::npos && type.find(';') == std::string::npos &&
           normalize_mimetype(type) == type;
}

bool matches_type(const std::vector<std::string>& patterns, std::string_view type)
{
    return std::any_of(patterns.begin(), patterns.end(), [&](std::string_view pattern) {
        const auto stem = wildcard_stem(pattern);
        if (stem.empty())
            return iequals(pattern, type);
        return type.size() > stem.size() && iequals(type.substr(0, stem.size()), stem);
    });
}

}  // namespace restante
