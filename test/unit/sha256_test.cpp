#include "core/sha256.hpp"

#include "core/encoding.hpp"

#include <gtest/gtest.h>

#include <string>

namespace restante {
namespace {

TEST(sha256, known_digests)
{
    EXPECT_EQ(to_hex(sha256_of("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(to_hex(sha256_of("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(to_hex(sha256_of(std::string(1'000'000, 'a'))),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    EXPECT_EQ(to_base64(sha256_of("abc")), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
}

TEST(sha256, pieces_make_the_same_digest)
{
    const std::string text(1000, 'x');
    for (std::size_t piece : {1u, 7u, 63u, 64u, 65u, 999u}) {
        sha256 hash;
        for (std::size_t at = 0; at < text.size(); at += piece)
            hash.update(std::string_view(text).substr(at, piece));
        EXPECT_EQ(hash.finish(), sha256_of(text)) << piece;
    }
}

TEST(sha256, starts_anew_after_finish)
{
    sha256 hash;
    hash.update(std::string_view("abc"));
    EXPECT_EQ(hash.finish(), sha256_of("abc"));
    EXPECT_EQ(hash.finish(), sha256_of(""));
    hash.update(std::string_view("abc"));
    EXPECT_EQ(hash.finish(), sha256_of("abc"));
}

TEST(sha256, can_be_moved_in_the_middle)
{
    sha256 first;
    first.update(std::string_view("a"));
    sha256 second = std::move(first);
    second.update(std::string_view("bc"));
    EXPECT_EQ(second.finish(), sha256_of("abc"));
}

}  // namespace
}  // namespace restante
