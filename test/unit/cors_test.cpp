#include "http/message/cors.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace restante {
namespace {

const std::string canvas = "https://canvas.example";

std::string value_of(const cors_fields& fields, std::string_view name)
{
    const auto found =
        std::find_if(fields.begin(), fields.end(), [&](const cors_field& each) { return each.name == name; });
    return found == fields.end() ? "" : found->value;
}

method_set get_and_options()
{
    method_set methods;
    methods.insert(boost::beast::http::verb::get);
    methods.insert(boost::beast::http::verb::options);
    return methods;
}

TEST(cors, nobody_is_allowed_by_default)
{
    const cors_policy nobody({});
    EXPECT_FALSE(nobody.allows(canvas));
    EXPECT_TRUE(nobody.response_fields(canvas).empty());
    EXPECT_TRUE(nobody.preflight_fields(canvas, get_and_options()).empty());
}

TEST(cors, origins_are_compared_exactly)
{
    const cors_policy policy({"http://localhost:5173", canvas});
    EXPECT_TRUE(policy.allows(canvas));
    EXPECT_TRUE(policy.allows("http://localhost:5173"));
    for (const char* origin :
         {"", "null", "https://canvas.example.evil", "https://canvas.example:443", "http://canvas.example",
          "https://CANVAS.example", "https://canvas.example/", "*"})
        EXPECT_FALSE(policy.allows(origin)) << origin;
}

TEST(cors, an_allowed_origin_is_named_and_caches_are_warned)
{
    const cors_policy policy({canvas});
    const auto fields = policy.response_fields(canvas);
    EXPECT_EQ(value_of(fields, "Access-Control-Allow-Origin"), canvas);
    EXPECT_EQ(value_of(fields, "Access-Control-Allow-Credentials"), "true");
    EXPECT_EQ(value_of(fields, "Vary"), "Origin");
    EXPECT_NE(value_of(fields, "Access-Control-Expose-Headers").find("X-Request-Id"), std::string::npos);
}

TEST(cors, other_origins_and_none_get_no_permission)
{
    const cors_policy policy({canvas});
    for (const char* origin : {"", "https://evil.example"}) {
        const auto fields = policy.response_fields(origin);
        EXPECT_EQ(value_of(fields, "Vary"), "Origin") << origin;
        EXPECT_EQ(fields.size(), 1u) << origin;
        EXPECT_EQ(policy.preflight_fields(origin, get_and_options()).size(), 1u) << origin;
    }
}

TEST(cors, a_star_never_comes_with_credentials)
{
    for (const auto& origins : {std::vector<std::string>{"*"}, std::vector<std::string>{canvas, "*"}}) {
        const cors_policy anyone(origins);
        EXPECT_TRUE(anyone.allows("https://any.example"));
        for (const auto& fields :
             {anyone.response_fields(canvas), anyone.preflight_fields(canvas, get_and_options())}) {
            EXPECT_EQ(value_of(fields, "Access-Control-Allow-Origin"), "*");
            EXPECT_EQ(value_of(fields, "Access-Control-Allow-Credentials"), "");
        }
    }
}

TEST(cors, a_preflight_names_methods_and_fields)
{
    const auto fields = cors_policy({canvas}).preflight_fields(canvas, get_and_options());
    EXPECT_EQ(value_of(fields, "Access-Control-Allow-Methods"), "GET, HEAD, OPTIONS");
    EXPECT_NE(value_of(fields, "Access-Control-Allow-Headers").find("Authorization"), std::string::npos);
    EXPECT_NE(value_of(fields, "Access-Control-Allow-Headers").find("Idempotency-Key"), std::string::npos);
    EXPECT_EQ(value_of(fields, "Access-Control-Max-Age"), "600");
}

}  // namespace
}  // namespace restante
