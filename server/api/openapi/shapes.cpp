#include "server/api/openapi/shapes.hpp"

#include <boost/json/array.hpp>

#include <algorithm>
#include <array>

namespace restante {

namespace json = boost::json;

namespace {

constexpr std::array<std::string_view, 5> types{"string", "integer", "number", "boolean", "object"};

bool take_suffix(std::string_view& text, std::string_view suffix)
{
    if (!text.ends_with(suffix))
        return false;
    text.remove_suffix(suffix.size());
    return true;
}

json::object or_null(json::object schema)
{
    const auto* type = schema.if_contains("type");
    if (type && type->is_string() && schema.size() == 1)
        return {{"type", json::array{*type, "null"}}};
    return {{"anyOf", json::array{std::move(schema), json::object{{"type", "null"}}}}};
}

}  // namespace

void shape_reader::fault(std::string_view where, std::string_view what)
{
    faults_.push_back(std::string(where).append(": ").append(what));
}

json::object shape_reader::type(std::string_view name, std::string_view where)
{
    if (name == "any")
        return {};
    if (std::find(types.begin(), types.end(), name) != types.end())
        return {{"type", name}};
    if (!schemas_.contains(name))
        fault(where, "there is no schema of this name: " + std::string(name));
    return {{"$ref", "#/components/schemas/" + std::string(name)}};
}

json::object shape_reader::word(std::string_view text, std::string_view where)
{
    const auto colon = text.find(": ");
    auto name = text.substr(0, colon);
    const bool nullable = take_suffix(name, " or null");
    const bool list = take_suffix(name, "[]");
    auto schema = type(name, where);
    if (list)
        schema = {{"type", "array"}, {"items", std::move(schema)}};
    if (nullable)
        schema = or_null(std::move(schema));
    if (colon != std::string_view::npos)
        schema["description"] = text.substr(colon + 2);
    return schema;
}

std::vector<shape_reader::member> shape_reader::members(const json::object& fields, std::string_view where)
{
    std::vector<member> all;
    for (const auto& [key, shape] : fields) {
        std::string_view name = key;
        const bool optional = take_suffix(name, "?");
        all.push_back(
            {std::string(name), !optional, to_schema(shape, std::string(where) + ", " + std::string(name))});
    }
    return all;
}

json::object shape_reader::fields_of(const json::object& shape, std::string_view where)
{
    json::object schema{{"type", "object"}};
    if (const auto* text = shape.if_contains("description"))
        schema["description"] = *text;
    json::object properties;
    json::array required;
    const auto add = [&](const json::object& fields) {
        for (auto& each : members(fields, where)) {
            if (each.required)
                required.emplace_back(each.name);
            properties[each.name] = std::move(each.schema);
        }
    };
    if (const auto* other = shape.if_contains("like")) {
        const auto* like = other->is_string() ? schemas_.if_contains(other->get_string()) : nullptr;
        const auto* fields = like && like->is_object() ? like->get_object().if_contains("fields") : nullptr;
        if (fields && fields->is_object())
            add(fields->get_object());
        else
            fault(where, "\"like\" must name a schema with fields");
    }
    if (const auto* fields = shape.at("fields").if_object())
        add(*fields);
    else
        fault(where, "\"fields\" must be an object");
    schema["properties"] = std::move(properties);
    if (!required.empty())
        schema["required"] = std::move(required);
    if (!shape.contains("open"))
        schema["additionalProperties"] = false;
    return schema;
}

json::object shape_reader::to_schema(const json::value& shape, std::string_view where)
{
    if (const auto* text = shape.if_string())
        return word(*text, where);
    const auto* object = shape.if_object();
    if (!object) {
        fault(where, "neither a text nor an object");
        return {};
    }
    return object->contains("fields") ? fields_of(*object, where) : *object;
}

}  // namespace restante
