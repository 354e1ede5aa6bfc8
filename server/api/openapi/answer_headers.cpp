#include "server/api/openapi/answer_headers.hpp"

#include <boost/json/value.hpp>

namespace restante {

namespace json = boost::json;

namespace {

constexpr std::string_view shared_groups[] = {"every_answer", "every_error"};

std::string component_name(std::string_view group, std::string_view header)
{
    return std::string(group) + '.' + std::string(header);
}

}  // namespace

json::object header_objects(shape_reader& shapes, const json::object& group, std::string_view where)
{
    json::object headers;
    for (auto& each : shapes.members(group, where)) {
        json::object header;
        if (const auto* text = each.schema.if_contains("description"))
            header["description"] = *text;
        each.schema.erase("description");
        header["required"] = each.required;
        header["schema"] = std::move(each.schema);
        headers[each.name] = std::move(header);
    }
    return headers;
}

json::object shared_headers(const api_fragments& fragments, std::string_view group)
{
    json::object headers;
    for (const auto& entry : object_at(fragments.headers, group)) {
        std::string_view name = entry.key();
        if (name.ends_with('?'))
            name.remove_suffix(1);
        headers[name] = {{"$ref", "#/components/headers/" + component_name(group, name)}};
    }
    return headers;
}

json::object header_components(const api_fragments& fragments, shape_reader& shapes)
{
    json::object all;
    for (const auto group : shared_groups)
        for (auto& header : header_objects(shapes, object_at(fragments.headers, group), group))
            all[component_name(group, header.key())] = std::move(header.value());
    return all;
}

void join_headers(json::object& own, const json::object& others, const api_fragments& fragments,
                  shape_reader& shapes)
{
    const auto of_errors = header_objects(shapes, object_at(fragments.headers, "every_error"), "every_error");
    for (const auto& header : others) {
        if (own.contains(header.key()))
            continue;
        const bool referred = header.value().as_object().contains("$ref");
        auto optional = referred ? of_errors.at(header.key()).as_object() : header.value().as_object();
        optional["required"] = false;
        own[header.key()] = std::move(optional);
    }
}

}  // namespace restante
