#include "server/api/openapi/operation.hpp"

#include "auth/principal.hpp"
#include "server/api/common/access_rules.hpp"
#include "server/api/openapi/answer_headers.hpp"

#include <boost/beast/http/status.hpp>
#include <boost/json/array.hpp>

#include <algorithm>

namespace restante {

namespace json = boost::json;
namespace http = boost::beast::http;

namespace {

constexpr token_scope scopes[] = {token_scope::full, token_scope::upload, token_scope::read,
                                  token_scope::grant};

std::string lower(std::string_view text)
{
    std::string out(text);
    for (char& c : out)
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    return out;
}

// "get_workspaces_id_tokens"
std::string operation_id(std::string_view method, std::string_view pattern)
{
    std::string id = lower(method);
    for (const char c : pattern) {
        if (c == '/' || c == '-' || c == '.')
            id += '_';
        else if (c != '{' && c != '}')
            id += c;
    }
    return id;
}

// Which tokens open it. A route that names no workspace is opened by any that has the scope.
json::array tokens_for(const route& which)
{
    json::array tokens;
    const uuid own = make_uuid_v4();
    for (const auto scope : scopes) {
        const principal holder{.kind = principal_kind::workspace, .scope = scope, .workspace = {.id = own}};
        if (decide_access(which.who, holder, own) == access::granted)
            tokens.emplace_back(to_string(scope));
    }
    tokens.emplace_back("admin");
    return tokens;
}

void add_access(json::object& operation, const route& which)
{
    json::array security;
    if (which.who != scope::open)
        security.push_back({{"bearer", json::array()}});
    if (which.who == scope::registration || which.who == scope::heartbeat)
        security.emplace_back(json::object());  // also without a token, where registration is open
    operation["security"] = std::move(security);
    if (which.who != scope::open)
        operation["x-tokens"] = tokens_for(which);
}

json::object parameter(std::string_view in, shape_reader::member& made)
{
    json::object described{{"name", made.name}, {"in", in}, {"required", made.required}};
    if (const auto* text = made.schema.if_contains("description"))
        described["description"] = *text;
    made.schema.erase("description");
    described["schema"] = std::move(made.schema);
    return described;
}

bool is_id(segment_kind kind)
{
    return kind == segment_kind::workspace_id || kind == segment_kind::file_id ||
           kind == segment_kind::token_id;
}

bool is_answer(const json::object& said)
{
    return !said.contains("fields");
}

}  // namespace

std::string name_of(const route& which)
{
    return std::string(http::to_string(which.verb)) + ' ' + std::string(which.pattern.text());
}

std::string operation_method(const route& which)
{
    return lower(http::to_string(which.verb));
}

json::object operation_maker::make(const route& which)
{
    const auto where = name_of(which);
    const auto* found = fragments_.operations.if_contains(where);
    if (!found || !found->is_object())
        shapes_.fault(
            where, "no openapi.json in server/api/ describes this route; docs/contributing.md, \"a route\"");
    const auto& said = object_at(fragments_.operations, where);
    json::object made{{"operationId", operation_id(http::to_string(which.verb), which.pattern.text())}};
    if (found && !said.contains("summary"))
        shapes_.fault(where, "has no summary");
    if (const auto* summary = said.if_contains("summary"))
        made["summary"] = *summary;
    if (const auto* description = said.if_contains("description"))
        made["description"] = *description;
    add_access(made, which);
    if (auto all = parameters(which, said, where); !all.empty())
        made["parameters"] = std::move(all);
    if (auto body = request_body(which, said, where); !body.empty())
        made["requestBody"] = std::move(body);
    made["responses"] = responses(which, said, where);
    return made;
}

json::array operation_maker::parameters(const route& which, const json::object& said,
                                        const std::string& where)
{
    json::array all;
    for (std::size_t i = 0; i < which.pattern.size(); ++i) {
        auto name = which.pattern[i].text;
        if (which.pattern[i].kind == segment_kind::literal)
            continue;
        name.remove_prefix(1);
        name.remove_suffix(1);
        all.push_back(
            {{"name", name},
             {"in", "path"},
             {"required", true},
             {"schema", shapes_.to_schema(is_id(which.pattern[i].kind) ? "uuid_given" : "string", where)}});
    }
    for (auto& each : shapes_.members(object_at(said, "query"), where))
        all.emplace_back(parameter("query", each));
    for (auto& each : shapes_.members(object_at(said, "headers"), where))
        all.emplace_back(parameter("header", each));
    return all;
}

json::object operation_maker::request_body(const route& which, const json::object& said,
                                           const std::string& where)
{
    const bool optional = said.contains("body?");
    const auto* body = said.if_contains(optional ? "body?" : "body");
    if (!body) {
        if (which.body != body_mode::none && !said.empty())
            shapes_.fault(where, "takes a body and does not say which");
        return {};
    }
    std::string type = "application/json";
    json::object schema;
    if (const auto* form = body->if_object(); form && form->contains("schema")) {
        type = form->at("type").as_string();
        schema = form->at("schema").as_object();
    } else {
        schema = shapes_.to_schema(*body, where + ", body");
    }
    return {{"required", !optional},
            {"content", {{type, {{"schema", std::move(schema)}}}}},
            {"x-max-bytes", which.body_cap}};
}

json::object operation_maker::headers_of(const json::object& said, const std::string& where)
{
    auto headers = shared_headers(fragments_, "every_answer");
    const auto* more = said.if_contains("headers");
    const json::object* group = more ? more->if_object() : nullptr;
    if (more && more->is_string()) {
        if (!fragments_.headers.contains(more->get_string()))
            shapes_.fault(where,
                          "there is no group of headers of this name: " + std::string(more->get_string()));
        group = &object_at(fragments_.headers, more->get_string());
    }
    if (group)
        for (auto& header : header_objects(shapes_, *group, where))
            headers[header.key()] = header.value();
    return headers;
}

json::object operation_maker::answer(std::string_view status, const json::value& said,
                                     const std::string& where)
{
    const auto* object = said.if_object();
    const bool long_form = object && is_answer(*object);
    const json::object plain{{"body", said}};
    const auto& spec = long_form ? *object : plain;

    json::object made;
    const auto code = static_cast<unsigned>(std::stoul(std::string(status)));
    made["description"] = http::obsolete_reason(static_cast<http::status>(code));
    if (const auto* text = spec.if_contains("description"))
        made["description"] = *text;
    made["headers"] = headers_of(spec, where);
    if (const auto* body = spec.if_contains("body"))
        made["content"] = {{"application/json", {{"schema", shapes_.to_schema(*body, where)}}}};
    else if (const auto* type = spec.if_contains("type"))
        made["content"] = {{type->as_string(), json::object()}};
    return made;
}

json::object operation_maker::responses(const route& which, const json::object& said,
                                        const std::string& where)
{
    auto codes = codes_of_route(which);
    if (const auto* more = said.if_contains("errors"); more && more->is_array())
        for (const auto& code : more->get_array())
            codes.insert(std::string(code.as_string()));
    json::object all;
    if (!said.empty() && !said.contains("answers"))
        shapes_.fault(where, "has no answers");
    for (const auto& [status, spec] : object_at(said, "answers")) {
        const auto name =
            operation_id(http::to_string(which.verb), which.pattern.text()) + '.' + std::string(status);
        responses_[name] = answer(status, spec, where + ' ' + std::string(status));
        all[status] = {{"$ref", "#/components/responses/" + name}};
    }
    for (auto& refused : errors_.responses(codes, where)) {
        auto& at = all[refused.key()];
        if (at.is_null()) {
            at = std::move(refused.value());
            continue;
        }
        // A status that is an answer and an error, like the 503 of /readyz: either body, the headers of both.
        const auto name = operation_id(http::to_string(which.verb), which.pattern.text()) + '.' +
                          std::string(refused.key());
        errors_.join(refused.value(), responses_[name].as_object());
    }
    if (said.contains("forwards"))
        all["default"] = {{"$ref", "#/components/responses/forwarded"}};
    return all;
}

json::object operation_maker::make_head(const json::object& get)
{
    auto head = get;
    head["operationId"] = "head" + std::string(get.at("operationId").as_string()).substr(3);
    head["summary"] = "The headers of GET.";
    head.erase("description");
    return head;
}

json::object operation_maker::make_options(const route& which)
{
    auto codes = codes_without_route();
    for (const char* of_others : {"method_not_allowed", "method_not_implemented", "no_such_route"})
        codes.erase(of_others);
    json::object all{{"204", {{"$ref", "#/components/responses/options"}}}};
    for (auto& refused : errors_.responses(codes, "OPTIONS"))
        all[refused.key()] = std::move(refused.value());
    json::object made{{"operationId", operation_id("options", which.pattern.text())},
                      {"summary", "The methods of this path, and what pages of other origins may do."},
                      {"security", json::array()},
                      {"responses", std::move(all)}};
    const auto where = name_of(which);
    if (auto ids = parameters(which, {}, where); !ids.empty())
        made["parameters"] = std::move(ids);
    return made;
}

}  // namespace restante
