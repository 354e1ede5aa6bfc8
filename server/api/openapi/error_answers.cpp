#include "server/api/openapi/error_answers.hpp"

#include "http/message/public_errors.hpp"
#include "http/routing/routes.hpp"
#include "server/api/openapi/answer_headers.hpp"
#include "server/api/openapi/fragments.hpp"

#include <boost/json/array.hpp>

namespace restante {

namespace json = boost::json;

namespace {

// By code, which is what clients see: several errors of ours may share one.
const std::map<std::string_view, public_error>& all_public_errors()
{
    static const auto all = [] {
        constexpr int more_than_there_are = 1000;
        std::map<std::string_view, public_error> found;
        for (int i = 1; i < more_than_there_are; ++i) {
            const auto error = public_error_of(static_cast<errc>(i));
            found.emplace(error.code, error);
        }
        return found;
    }();
    return all;
}

// Present in every one of these answers only if every code has it.
void add_header(json::object& headers, std::string_view name, std::string_view what, std::size_t having,
                std::size_t all)
{
    if (having == 0)
        return;
    headers[name] = {{"description", what}, {"required", having == all}, {"schema", {{"type", "string"}}}};
}

}  // namespace

const error_codes& codes_of_every_request()
{
    static const error_codes codes{"bad_request",
                                   "client_gone",
                                   "expectation_failed",
                                   "headers_too_large",
                                   "host_not_allowed",
                                   "http_version_not_supported",
                                   "internal_error",
                                   "no_room",
                                   "platform_unavailable",
                                   "request_timeout",
                                   "request_too_large",
                                   "shutting_down",
                                   "transfer_coding_not_implemented",
                                   "uri_too_long"};
    return codes;
}

const error_codes& codes_without_route()
{
    static const auto codes = [] {
        auto all = codes_of_every_request();
        all.insert({"invalid_file_id", "invalid_workspace_id", "method_not_allowed", "method_not_implemented",
                    "no_such_route"});
        return all;
    }();
    return codes;
}

error_codes codes_of_route(const route& which)
{
    auto codes = codes_of_every_request();
    for (std::size_t i = 0; i < which.pattern.size(); ++i) {
        if (which.pattern[i].kind == segment_kind::workspace_id)
            codes.insert("invalid_workspace_id");
        if (which.pattern[i].kind == segment_kind::file_id)
            codes.insert("invalid_file_id");
    }
    if (which.body == body_mode::buffered)
        codes.insert({"malformed_json", "unsupported_media_type"});
    if (which.who == scope::open)
        return codes;
    codes.insert(
        {"cross_site", "insufficient_scope", "invalid_token", "missing_token", "too_many_failed_logins"});
    if (which.who == scope::admin || which.who == scope::registration)
        codes.insert({"invalid_admin_token", "missing_admin_token"});
    return codes;
}

error_answers::error_answers(const api_fragments& fragments, shape_reader& shapes)
    : fragments_(fragments), shapes_(shapes)
{
    for (const auto* section : {&fragments.errors, &fragments.error_headers})
        for (const auto& entry : *section)
            if (!all_public_errors().contains(entry.key()))
                shapes.fault(entry.key(), "http/message/public_errors.cpp has no error with this code");
}

json::object error_answers::responses(const error_codes& codes, std::string_view where)
{
    std::map<unsigned, error_codes> by_status;
    for (const auto& code : codes) {
        const auto found = all_public_errors().find(code);
        if (found == all_public_errors().end())
            shapes_.fault(where, "http/message/public_errors.cpp has no error with the code " + code);
        else
            by_status[found->second.status].insert(code);
    }
    json::object references;
    for (const auto& [status, same] : by_status) {
        auto name = std::to_string(status);
        for (const auto& code : same)
            name += '.' + code;
        if (!responses_.contains(name))
            responses_[name] = make_response(same);
        references[std::to_string(status)] = {{"$ref", "#/components/responses/" + name}};
    }
    return references;
}

json::object error_answers::make_response(const error_codes& codes)
{
    std::string description;
    json::array shapes;
    auto headers = shared_headers(fragments_, "every_answer");
    for (auto& header : shared_headers(fragments_, "every_error"))
        headers[header.key()] = header.value();
    std::size_t later = 0, challenge = 0;
    for (const auto& code : codes) {
        const auto& error = all_public_errors().at(code);
        description += (description.empty() ? "`" : "; `") + code + "`: " + std::string(error.sentence);
        later += error.retry_after ? 1 : 0;
        challenge += error.www_authenticate ? 1 : 0;
        add_schema(code);
        shapes.push_back({{"$ref", "#/components/schemas/error." + code}});
        auto more = header_objects(shapes_, object_at(fragments_.error_headers, code), code);
        for (auto& header : more) {
            if (codes.size() > 1)
                header.value().get_object()["required"] = false;
            headers[header.key()] = header.value();
        }
    }
    add_header(headers, "Retry-After", "Seconds to wait before the next attempt.", later, codes.size());
    add_header(headers, "WWW-Authenticate", "`Bearer`", challenge, codes.size());
    json::value schema = shapes.size() == 1 ? shapes.front() : json::value{{"oneOf", shapes}};
    return {{"description", description},
            {"headers", std::move(headers)},
            {"content", {{"application/json", {{"schema", std::move(schema)}}}}}};
}

void error_answers::join(const json::value& reference, json::object& answer) const
{
    const std::string_view target = reference.at("$ref").as_string();
    const auto& error = responses_.at(target.substr(target.rfind('/') + 1)).as_object();
    join_headers(answer["headers"].as_object(), error.at("headers").as_object(), fragments_, shapes_);
    auto& own = answer["content"].as_object()["application/json"].as_object()["schema"];
    json::array either{own};
    const auto& schema = error.at("content").at("application/json").at("schema").as_object();
    if (const auto* several = schema.if_contains("oneOf"))
        for (const auto& each : several->as_array())
            either.push_back(each);
    else
        either.emplace_back(schema);
    own = json::object{{"oneOf", std::move(either)}};
    auto& text = answer["description"];
    text =
        std::string(text.as_string()) + " Or an error: " + std::string(error.at("description").as_string());
}

void error_answers::add_schema(const std::string& code)
{
    const auto name = "error." + code;
    if (schemas_.contains(name))
        return;
    json::object fields{{"error", "string: a sentence for people"}, {"code", {{"const", code}}}};
    for (const auto& more : object_at(fragments_.errors, code))
        fields.insert(more);
    schemas_[name] = shapes_.to_schema(json::object{{"fields", std::move(fields)}}, name);
}

}  // namespace restante
