// The document of the API: every route is described, and the notation of the descriptions means what it says.
#include "server/api/openapi/document.hpp"
#include "server/api/openapi/operation.hpp"
#include "server/api/route_table.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace restante {
namespace {

namespace json = boost::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

openapi_document whole_document()
{
    static const auto routes = public_routes(nullptr);
    return make_openapi({.routes = routes, .schemas = embedded_schemas(), .limits = {}});
}

openapi_document document_of(std::span<const route> routes, std::string_view text)
{
    const embedded_schema file{"room/openapi.json", text};
    return make_openapi({.routes = routes, .schemas = std::span(&file, 1), .limits = {}});
}

const std::vector<route>& one_route()
{
    using enum boost::beast::http::verb;
    static const std::vector<route> table{
        {post, "/things/{id}", scope::read, body_mode::buffered, 1000, nullptr}};
    return table;
}

std::string schema_of(std::string_view shape)
{
    const json::object schemas{{"uuid", {{"type", "string"}}}, {"base", {{"fields", {{"a", "string"}}}}}};
    std::vector<std::string> faults;
    shape_reader reader(schemas, faults);
    const auto made = json::serialize(reader.to_schema(json::parse(shape), "here"));
    return faults.empty() ? made : "fault: " + faults.front();
}

// Whoever adds a route to server/api/route_table.cpp describes it in the openapi.json of its room.
TEST(openapi, every_route_is_described_and_nothing_else)
{
    EXPECT_THAT(whole_document().faults, IsEmpty());
}

TEST(openapi, a_route_that_nobody_describes_is_named)
{
    const auto made = document_of(one_route(), R"({"schemas": {"uuid_given": {"type": "string"}}})");
    EXPECT_THAT(made.faults,
                ElementsAre(HasSubstr("POST /things/{id}: no openapi.json in server/api/ describes")));
    EXPECT_TRUE(made.text.at("paths").as_object().contains("/things/{id}"));
}

TEST(openapi, what_is_wrong_with_a_description_is_said)
{
    const auto faults_of = [](std::string_view text) { return document_of(one_route(), text).faults; };
    EXPECT_THAT(faults_of("nonsense"), Contains(HasSubstr("room/openapi.json: is not a JSON object")));
    EXPECT_THAT(faults_of(R"({"routes": {}})"), Contains(HasSubstr("no section of this name: routes")));
    EXPECT_THAT(faults_of(R"({"operations": {"GET /other": {}}})"),
                Contains(HasSubstr("GET /other: described, but")));
    EXPECT_THAT(faults_of(R"({"operations": {"POST /things/{id}": {"answers": {"200": "thing"}}}})"),
                Contains(HasSubstr("no schema of this name: thing")));
    EXPECT_THAT(faults_of(R"({"operations": {"POST /things/{id}": {"errors": ["oops"], "answers": {}}}})"),
                Contains(HasSubstr("no error with the code oops")));
    EXPECT_THAT(
        faults_of(R"({"operations": {"POST /things/{id}": {"answers": {"200": {"headers": "gone"}}}}})"),
        Contains(HasSubstr("no group of headers of this name: gone")));
    EXPECT_THAT(faults_of(R"({"operations": {"POST /things/{id}": {"summary": "x"}}})"),
                testing::AllOf(Contains(HasSubstr("has no answers")), Contains(HasSubstr("takes a body"))));
    EXPECT_THAT(faults_of(R"({"errors": {"oops": {}}})"), Contains(HasSubstr("oops: ")));
}

TEST(openapi, the_notation_of_shapes)
{
    EXPECT_EQ(schema_of(R"("string")"), R"({"type":"string"})");
    EXPECT_EQ(schema_of(R"("any")"), "{}");
    EXPECT_EQ(schema_of(R"("integer or null: how many")"),
              R"({"type":["integer","null"],"description":"how many"})");
    EXPECT_EQ(
        schema_of(R"("uuid[]: in order: oldest first")"),
        R"({"type":"array","items":{"$ref":"#/components/schemas/uuid"},"description":"in order: oldest first"})");
    EXPECT_EQ(schema_of(R"("uuid or null")"),
              R"({"anyOf":[{"$ref":"#/components/schemas/uuid"},{"type":"null"}]})");
    EXPECT_EQ(schema_of(R"({"const": 1})"), R"({"const":1})");
    EXPECT_EQ(
        schema_of(R"({"fields": {"a": "string", "b?": "number"}})"),
        R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"number"}},"required":["a"],)"
        R"("additionalProperties":false})");
    EXPECT_EQ(schema_of(R"({"open": true, "fields": {"b?": "any"}})"),
              R"({"type":"object","properties":{"b":{}}})");
    EXPECT_EQ(schema_of(R"({"like": "base", "fields": {"b?": "any"}})"),
              R"({"type":"object","properties":{"a":{"type":"string"},"b":{}},"required":["a"],)"
              R"("additionalProperties":false})");
    EXPECT_THAT(schema_of(R"({"like": "uuid", "fields": {}})"), HasSubstr("fault: here: \"like\" must name"));
    EXPECT_THAT(schema_of("7"), HasSubstr("fault: here: neither"));
}

TEST(openapi, refusals_come_from_the_tables)
{
    const auto made = whole_document().text;
    const auto& paths = made.at("paths").as_object();
    const auto codes = [&](std::string_view path, std::string_view method, std::string_view status) {
        const auto& all = paths.at(path).at(method).at("responses").as_object();
        return all.contains(status) ? std::string(all.at(status).at("$ref").as_string()) : std::string();
    };
    EXPECT_EQ(codes("/workspaces/{id}/tokens", "get", "401"),
              "#/components/responses/401.invalid_token.missing_token");
    EXPECT_EQ(
        codes("/workspaces", "get", "401"),
        "#/components/responses/401.invalid_admin_token.invalid_token.missing_admin_token.missing_token");
    EXPECT_EQ(codes("/version", "get", "401"), "");
    EXPECT_EQ(codes("/version", "head", "431"), "#/components/responses/431.headers_too_large");
    EXPECT_EQ(codes("/version", "options", "204"), "#/components/responses/options");
    EXPECT_EQ(json::serialize(paths.at("/workspaces/{id}/chat/uploads").at("post").at("x-tokens")),
              R"(["full","upload","grant","admin"])");
}

}  // namespace
}  // namespace restante
