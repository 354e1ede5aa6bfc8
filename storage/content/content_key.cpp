#include "storage/content/content_key.hpp"

namespace restante {

namespace {

constexpr std::size_t hour_length = 13;  // "2026-11-16T18"
constexpr std::size_t uuid_length = 36;

}  // namespace

std::string hour_of(timestamp moment)
{
    return rfc3339(moment).substr(0, hour_length);
}

std::string make_content_key(const uuid& file, timestamp now)
{
    std::string key = hour_of(now);
    key += '/';
    append_to(key, file);
    return key;
}

bool is_hour(std::string_view text)
{
    return text.size() == hour_length && text[10] == 'T' &&
           parse_rfc3339(std::string(text) + ":00:00Z").has_value();
}

std::optional<content_key> parse_content_key(std::string_view text)
{
    if (text.size() != hour_length + 1 + uuid_length || text[hour_length] != '/')
        return std::nullopt;
    const auto hour = text.substr(0, hour_length);
    const auto name = text.substr(hour_length + 1);
    const auto file = parse_uuid(name);
    // The one spelling that we write, so that no two keys mean the same bytes.
    if (!is_hour(hour) || !file || to_string(*file) != name)
        return std::nullopt;
    return content_key{hour, *file};
}

}  // namespace restante
