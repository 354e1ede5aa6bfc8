#include "auth/token.hpp"

#include "auth/bearer.hpp"
#include "core/encoding.hpp"

#include <gtest/gtest.h>

#include <set>

namespace restante {
namespace {

TEST(token, looks_like_one_and_is_never_the_same)
{
    std::set<std::string> seen;
    for (int i = 0; i < 100; ++i) {
        const auto made = make_token();
        EXPECT_TRUE(looks_like_workspace_token(made.secret));
        EXPECT_EQ(from_base64url(made.secret)->size(), 32u);
        EXPECT_TRUE(seen.insert(made.secret).second);
    }
}

TEST(token, only_its_hash_and_eight_characters_are_kept)
{
    const auto made = make_token();
    EXPECT_EQ(made.kept.prefix, made.secret.substr(0, 8));
    EXPECT_EQ(made.kept.hash, hash_token(made.secret));
    EXPECT_NE(made.kept.hash, hash_token(made.secret + "x"));
}

TEST(token, hash_is_plain_sha256)
{
    EXPECT_EQ(to_hex(hash_token("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(token, same_token_compares_all_bytes)
{
    auto a = hash_token("a");
    auto b = a;
    EXPECT_TRUE(same_token(a, b));
    for (auto& byte : b) {
        byte ^= 1;
        EXPECT_FALSE(same_token(a, b));
        byte ^= 1;
    }
}

}  // namespace
}  // namespace restante
