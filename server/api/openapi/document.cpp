#include "server/api/openapi/document.hpp"

#include "server/api/openapi/answer_headers.hpp"
#include "server/api/openapi/operation.hpp"

#include <boost/json/array.hpp>

#include <algorithm>

namespace restante {

namespace json = boost::json;

namespace {

constexpr std::string_view description =
    "Holds chat uploads until their workspace calls for them. Every answer also has the headers that frame it "
    "(`Date`, `Connection`, `Content-Length` or `Transfer-Encoding`). Paths and methods that are not listed are "
    "answered as `x-unrouted` says; only `/metrics`, which has a listener of its own, is served without being "
    "listed. Unknown query parameters and members of a request's body are ignored.";

void append(json::object& to, json::object from)
{
    for (auto& each : from)
        to[each.key()] = std::move(each.value());
}

// Answers that no route says anything of.
json::object common_responses(const api_fragments& fragments, shape_reader& shapes)
{
    const auto headers = [&](std::string_view group) {
        auto all = shared_headers(fragments, "every_answer");
        append(all, header_objects(shapes, object_at(fragments.headers, group), group));
        return all;
    };
    return {
        {"options", {{"description", "The methods of this path."}, {"headers", headers("options")}}},
        {"forwarded",
         {{"description", "What a workspace that can be called answered: its status, body and Content-Type."},
          {"headers", headers("forwarded")},
          {"content", {{"*/*", json::object()}}}}}};
}

void look_for_strangers(const openapi_source& from, const api_fragments& fragments,
                        std::vector<std::string>& faults)
{
    for (const auto& entry : fragments.operations)
        if (std::none_of(from.routes.begin(), from.routes.end(),
                         [&](const route& each) { return name_of(each) == entry.key(); }))
            faults.push_back(std::string(entry.key()) +
                             ": described, but server/api/route_table.cpp has no such route");
}

}  // namespace

openapi_document make_openapi(const openapi_source& from)
{
    openapi_document made;
    const auto fragments = read_fragments(from.schemas, made.faults);
    look_for_strangers(from, fragments, made.faults);
    shape_reader shapes(fragments.schemas, made.faults);
    error_answers errors(fragments, shapes);
    operation_maker operations(fragments, shapes, errors);

    json::object paths;
    for (const auto& each : from.routes) {
        auto& at = paths[each.pattern.text()];
        if (at.is_null())
            at = {{"options", operations.make_options(each)}};
        auto& path = at.get_object();
        auto operation = operations.make(each);
        if (each.verb == boost::beast::http::verb::get)
            path["head"] = operations.make_head(operation);
        path[operation_method(each)] = std::move(operation);
    }
    auto unrouted = errors.responses(codes_without_route(), "x-unrouted");
    unrouted["204"] = {{"$ref", "#/components/responses/options"}};  // to a preflight

    json::object schemas;
    for (const auto& [name, shape] : fragments.schemas)
        schemas[name] = shapes.to_schema(shape, name);
    append(schemas, errors.take_schemas());
    auto responses = common_responses(fragments, shapes);
    append(responses, operations.take_responses());
    append(responses, errors.take_responses());

    made.text = {
        {"openapi", "3.1.0"},
        {"info", {{"title", "Restante"}, {"version", RESTANTE_VERSION}, {"description", description}}},
        {"servers", json::array{{{"url", "/"}}}},
        {"paths", std::move(paths)},
        {"components",
         {{"schemas", std::move(schemas)},
          {"responses", std::move(responses)},
          {"headers", header_components(fragments, shapes)},
          {"securitySchemes",
           {{"bearer",
             {{"type", "http"},
              {"scheme", "bearer"},
              {"description",
               "A token of the workspace, an upload grant or the admin token; `x-tokens` of each operation says which."}}}}}}},
        {"x-limits", from.limits},
        {"x-unrouted", {{"responses", std::move(unrouted)}}}};
    return made;
}

}  // namespace restante
