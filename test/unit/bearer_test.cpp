#include "auth/bearer.hpp"

#include <gtest/gtest.h>

#include <string>

namespace restante {
namespace {

const std::string good(43, 'x');

TEST(bearer, a_token_is_what_follows_the_scheme)
{
    for (const std::string& value :
         {"Bearer " + good, "bearer " + good, "BEARER " + good, "Bearer    " + good}) {
        const auto parsed = parse_bearer(value);
        EXPECT_EQ(parsed.kind, bearer_kind::token) << value;
        EXPECT_EQ(parsed.token, good) << value;
    }
    EXPECT_EQ(parse_bearer("Bearer x").token, "x");
    EXPECT_EQ(parse_bearer("Bearer " + std::string(512, 'x')).kind, bearer_kind::token);
}

TEST(bearer, other_schemes_and_no_token_are_none)
{
    for (const char* value : {"", "Bearer", "Bearer ", "Bearer    ", "Basic dTpw", "Basic", "Bearerx y",
                              "Token x", " Bearer x", "Bearer\tx", "B earer x"})
        EXPECT_EQ(parse_bearer(value).kind, bearer_kind::none) << value;
}

TEST(bearer, what_cannot_be_a_token_is_malformed)
{
    for (const std::string& value :
         {std::string("Bearer a b"), std::string("Bearer a\tb"), std::string("Bearer a\0b", 10),
          std::string("Bearer \x7f"), std::string("Bearer \xc3\xbc"), "Bearer " + std::string(513, 'x'),
          "Bearer " + std::string(8000, 'x')}) {
        EXPECT_EQ(parse_bearer(value).kind, bearer_kind::malformed) << value.substr(0, 20);
        EXPECT_TRUE(parse_bearer(value).token.empty()) << value.substr(0, 20);
    }
}

TEST(bearer, workspace_tokens_have_43_base64url_characters)
{
    EXPECT_TRUE(looks_like_workspace_token(good));
    EXPECT_TRUE(looks_like_workspace_token("AZaz09-_" + std::string(35, 'q')));
    for (const std::string& token :
         {std::string(), std::string(42, 'x'), std::string(44, 'x'), std::string(8000, 'x'),
          std::string(42, 'x') + "=", std::string(42, 'x') + "+", std::string(42, 'x') + "/",
          std::string(42, 'x') + '\0', std::string(42, 'x') + " "})
        EXPECT_FALSE(looks_like_workspace_token(token)) << token.substr(0, 50);
}

}  // namespace
}  // namespace restante
