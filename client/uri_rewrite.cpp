#include "client/uri_rewrite.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

namespace restante::client {

namespace {

namespace json = boost::json;

void rewrite_member(json::value& member, const path_lookup& find)
{
    if (!member.is_string())
        return rewrite_uris(member, find);
    const auto file = pending_file(member.get_string());
    if (!file)
        return;
    if (const auto path = find(*file))
        member = "workspace:" + *path;
}

const json::value* find_parts(const json::value& body)
{
    const auto* at = &body;
    for (const auto* name : {"params", "message", "parts"}) {
        const auto* object = at->if_object();
        const auto* next = object ? object->if_contains(name) : nullptr;
        if (!next)
            return nullptr;
        at = next;
    }
    return at->is_array() ? at : nullptr;
}

}  // namespace

std::optional<uuid> pending_file(std::string_view uri)
{
    constexpr std::string_view scheme = "platform-pending:";
    if (!uri.starts_with(scheme))
        return std::nullopt;
    uri.remove_prefix(scheme.size());
    const auto slash = uri.find('/');
    if (slash == std::string_view::npos || !parse_uuid(uri.substr(0, slash)))
        return std::nullopt;
    return parse_uuid(uri.substr(slash + 1));
}

void rewrite_uris(json::value& in, const path_lookup& find)
{
    if (auto* array = in.if_array()) {
        for (auto& each : *array)
            rewrite_uris(each, find);
    } else if (auto* object = in.if_object()) {
        for (auto& [name, member] : *object) {
            if (name == "uri" || name == "url")
                rewrite_member(member, find);
            else
                rewrite_uris(member, find);
        }
    }
}

std::string text_of_message(const json::value& request_body)
{
    std::string out;
    const auto* parts = find_parts(request_body);
    if (!parts)
        return out;
    for (const auto& part : parts->get_array()) {
        const auto* object = part.if_object();
        const auto* text = object ? object->if_contains("text") : nullptr;
        if (!text || !text->is_string())
            continue;
        if (!out.empty())
            out += '\n';
        out += std::string_view(text->get_string());
    }
    return out;
}

}  // namespace restante::client
