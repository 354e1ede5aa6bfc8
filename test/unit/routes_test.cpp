#include "http/routing/routes.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

using verb = boost::beast::http::verb;

route make_route(verb method, route_pattern pattern)
{
    return {method, pattern, scope::full, body_mode::none, 0, nullptr};
}

const route table[] = {
    make_route(verb::get, "/healthz"),
    make_route(verb::post, "/registry/register"),
    make_route(verb::delete_, "/workspaces/{id}"),
    make_route(verb::get, "/workspaces/{id}/activity"),
    make_route(verb::post, "/workspaces/{id}/activity"),
    make_route(verb::get, "/workspaces/{id}/pending-uploads"),
    make_route(verb::get, "/workspaces/{id}/pending-uploads/{file_id}"),
    make_route(verb::post, "/workspaces/{id}/pending-uploads/ack"),
    make_route(verb::get, "/workspaces/{id}/pending-uploads/{file_id}/content"),
    make_route(verb::post, "/workspaces/{id}/pending-uploads/{file_id}/ack"),
    make_route(verb::delete_, "/workspaces/{id}/tokens/{token_id}"),
};

const std::string workspace = "0191f2aa-3b5c-7d10-8e2f-a1b2c3d4e5f6";
const std::string other = "0191F2AA-3B5C-7D10-8E2F-A1B2C3D4E5FF";

route_match match(std::string_view method, std::string_view path)
{
    return match_route(table, method, path);
}

std::string_view template_of(const route_match& found)
{
    return found.target ? found.target->pattern.text() : "";
}

TEST(routes, finds_the_route_and_its_ids)
{
    EXPECT_EQ(template_of(match("GET", "/healthz")), "/healthz");

    const auto content = match("GET", "/workspaces/" + workspace + "/pending-uploads/" + other + "/content");
    EXPECT_FALSE(content.refusal);
    EXPECT_EQ(template_of(content), "/workspaces/{id}/pending-uploads/{file_id}/content");
    EXPECT_EQ(content.workspace, parse_uuid(workspace));
    EXPECT_EQ(content.file, parse_uuid(other));

    const auto token = match("DELETE", "/workspaces/" + workspace + "/tokens/" + other);
    EXPECT_EQ(token.token, parse_uuid(other));
}

TEST(routes, the_method_chooses_among_routes_of_one_path)
{
    const auto path = "/workspaces/" + workspace + "/activity";
    EXPECT_EQ(match("GET", path).target->verb, verb::get);
    EXPECT_EQ(match("POST", path).target->verb, verb::post);
    EXPECT_EQ(match("HEAD", path).target->verb, verb::get);
}

TEST(routes, literal_segments_beat_parameters)
{
    const auto ack = match("POST", "/workspaces/" + workspace + "/pending-uploads/ack");
    EXPECT_FALSE(ack.refusal);
    EXPECT_EQ(template_of(ack), "/workspaces/{id}/pending-uploads/ack");

    // `ack` is a route of its own, so GET on it is the wrong method and not a bad file id.
    const auto get = match("GET", "/workspaces/" + workspace + "/pending-uploads/ack");
    EXPECT_EQ(get.refusal, errc::method_not_allowed);
    EXPECT_EQ(get.allowed.to_string(), "POST, OPTIONS");
}

TEST(routes, ids_are_uuids)
{
    EXPECT_EQ(match("GET", "/workspaces/x/activity").refusal, errc::invalid_workspace_id);
    EXPECT_EQ(match("GET", "/workspaces//activity").refusal, errc::invalid_workspace_id);
    EXPECT_EQ(match("GET", "/workspaces/{" + workspace + "}/activity").refusal, errc::invalid_workspace_id);
    EXPECT_EQ(match("GET", "/workspaces/" + workspace + "/pending-uploads/x/content").refusal,
              errc::invalid_file_id);
    EXPECT_EQ(match("DELETE", "/workspaces/" + workspace + "/tokens/x").refusal, errc::bad_request);
    EXPECT_EQ(match("GET", "/workspaces/x/pending-uploads/y/content").refusal, errc::invalid_workspace_id);
    EXPECT_EQ(match("OPTIONS", "/workspaces/x/activity").refusal, errc::invalid_workspace_id);
    EXPECT_EQ(match("GET", "/workspaces/x/activity").target, nullptr);
}

TEST(routes, unknown_paths)
{
    for (const std::string& path :
         {std::string("/"), std::string(""), std::string("healthz"), std::string("/healthz/"),
          std::string("//healthz"), std::string("/Healthz"), std::string("/workspaces"),
          "/workspaces/" + workspace + "/nothing", "/workspaces/" + workspace + "/activity/x",
          std::string("/a/b/c/d/e/f/g/h/i/j"), std::string("*")}) {
        EXPECT_EQ(match("GET", path).refusal, errc::no_such_route) << path;
    }
    EXPECT_EQ(match("OPTIONS", "/nothing").refusal, errc::no_such_route);
}

TEST(routes, other_methods_are_told_what_is_allowed)
{
    const auto put = match("PUT", "/healthz");
    EXPECT_EQ(put.refusal, errc::method_not_allowed);
    EXPECT_EQ(put.allowed.to_string(), "GET, HEAD, OPTIONS");
    EXPECT_EQ(match("HEAD", "/registry/register").refusal, errc::method_not_allowed);
    EXPECT_EQ(match("TRACE", "/healthz").refusal, errc::method_not_allowed);
    EXPECT_EQ(match("PATCH", "/workspaces/" + workspace + "/activity").allowed.to_string(),
              "GET, HEAD, POST, OPTIONS");
}

TEST(routes, methods_nobody_knows)
{
    for (const char* method : {"BREW", "get", "PROPFIND", ""}) {
        EXPECT_EQ(match(method, "/healthz").refusal, errc::method_not_implemented) << method;
        EXPECT_EQ(match(method, "/nothing").refusal, errc::method_not_implemented) << method;
    }
}

TEST(routes, options_is_answered_for_every_known_path)
{
    const auto one = match("OPTIONS", "/healthz");
    EXPECT_FALSE(one.refusal);
    EXPECT_EQ(one.target, nullptr);
    EXPECT_EQ(one.allowed.to_string(), "GET, HEAD, OPTIONS");

    const auto all = match("OPTIONS", "*");
    EXPECT_FALSE(all.refusal);
    EXPECT_EQ(all.allowed.to_string(), "GET, HEAD, POST, DELETE, OPTIONS");
}

}  // namespace
}  // namespace restante
