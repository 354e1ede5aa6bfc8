#include "http/routing/routes.hpp"

#include <array>

namespace restante {

namespace http = boost::beast::http;

namespace {

struct path_segments {
    std::array<std::string_view, route_pattern::max_segments> text;
    std::size_t size = 0;
};

// Nothing when the path is longer than any pattern. "/" is one empty segment.
std::optional<path_segments> split(std::string_view path)
{
    if (!path.starts_with('/'))
        return std::nullopt;
    path_segments parts;
    while (!path.empty()) {
        if (parts.size == parts.text.size())
            return std::nullopt;
        path.remove_prefix(1);
        const auto segment = path.substr(0, path.find('/'));
        parts.text[parts.size++] = segment;
        path.remove_prefix(segment.size());
    }
    return parts;
}

bool fits(const route_pattern& pattern, const path_segments& path)
{
    if (pattern.size() != path.size)
        return false;
    for (std::size_t i = 0; i < path.size; ++i)
        if (pattern[i].kind == segment_kind::literal && pattern[i].text != path.text[i])
            return false;
    return true;
}

std::optional<errc> read_ids(const route_pattern& pattern, const path_segments& path, route_match& match)
{
    const auto read = [](std::string_view text, uuid& out) {
        const auto id = parse_uuid(text);
        if (id)
            out = *id;
        return id.has_value();
    };
    for (std::size_t i = 0; i < path.size; ++i) {
        switch (pattern[i].kind) {
            case segment_kind::literal:
            case segment_kind::text: break;
            case segment_kind::workspace_id:
                if (!read(path.text[i], match.workspace))
                    return errc::invalid_workspace_id;
                break;
            case segment_kind::file_id:
                if (!read(path.text[i], match.file))
                    return errc::invalid_file_id;
                break;
            case segment_kind::token_id:
                if (!read(path.text[i], match.token))
                    return errc::bad_request;
                break;
        }
    }
    return std::nullopt;
}

route_match refuse(errc why)
{
    route_match match;
    match.refusal = why;
    return match;
}

// OPTIONS * asks about the server as a whole.
route_match match_everything(std::span<const route> table)
{
    route_match match;
    match.allowed.insert(http::verb::options);
    for (const auto& each : table)
        match.allowed.insert(each.verb);
    return match;
}

}  // namespace

route_match match_route(std::span<const route> table, std::string_view method, std::string_view path) noexcept
{
    const auto asked = http::string_to_verb(method);
    if (!is_known_method(asked))
        return refuse(errc::method_not_implemented);
    if (path == "*" && asked == http::verb::options)
        return match_everything(table);
    const auto parts = split(path);
    if (!parts)
        return refuse(errc::no_such_route);

    const auto wanted = asked == http::verb::head ? http::verb::get : asked;
    const route* best = nullptr;  // any route of the winning pattern
    const route* found = nullptr;
    method_set allowed;
    for (const auto& each : table) {
        if (!fits(each.pattern, *parts) || (best && each.pattern.rank() < best->pattern.rank()))
            continue;
        if (!best || each.pattern.rank() > best->pattern.rank()) {
            best = &each;
            found = nullptr;
            allowed = {};
        }
        allowed.insert(each.verb);
        if (each.verb == wanted)
            found = &each;
    }
    if (!best)
        return refuse(errc::no_such_route);

    route_match match;
    match.allowed = allowed;
    match.allowed.insert(http::verb::options);
    if (!found && asked != http::verb::options) {
        match.refusal = errc::method_not_allowed;
        return match;
    }
    match.refusal = read_ids(best->pattern, *parts, match);
    if (!match.refusal)
        match.target = found;
    return match;
}

}  // namespace restante
