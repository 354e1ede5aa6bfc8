#include "core/secret_hash.hpp"

#include "core/ids.hpp"
#include "core/sha256.hpp"

#include <gtest/gtest.h>

#include <set>

namespace restante {

namespace {

TEST(secret_hash, equal_keys_have_equal_hashes)
{
    const auto id = make_uuid_v4();
    const auto digest = sha256_of("text");
    EXPECT_EQ(secret_hash()(id), secret_hash()(uuid(id)));
    EXPECT_EQ(secret_hash()(digest), secret_hash()(digest32(digest)));
}

TEST(secret_hash, every_byte_counts)
{
    digest32 digest{};
    std::set<std::size_t> hashes{secret_hash()(digest)};
    for (auto& byte : digest) {
        byte = 1;
        hashes.insert(secret_hash()(digest));
        byte = 0;
    }
    EXPECT_EQ(hashes.size(), digest.size() + 1);
}

// Ids that count up are what a client without imagination chooses.
TEST(secret_hash, spreads_neighbours_over_small_tables)
{
    std::set<std::size_t> places;
    for (unsigned char i = 0; i < 64; ++i) {
        uuid id{};
        id.data[15] = i;
        places.insert(secret_hash()(id) % 64);
    }
    EXPECT_GT(places.size(), 24u);
}

TEST(secret_hash, is_not_that_of_a_known_secret)
{
    std::uint64_t hash_without = 0;
    for (int i = 0; i < 2; ++i)
        boost::hash_combine(hash_without, std::uint64_t(0));
    EXPECT_NE(secret_hash()(uuid{}), hash_without);
    EXPECT_NE(hash_secret(), 0u);
}

}  // namespace

}  // namespace restante
