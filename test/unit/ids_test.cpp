#include "core/ids.hpp"

#include <gtest/gtest.h>

#include <set>

namespace restante {
namespace {

TEST(ids, canonical_text_in_any_letter_case)
{
    const auto lower = parse_uuid("0191f2aa-3b5c-7d10-8e2f-a1b2c3d4e5f6");
    ASSERT_TRUE(lower);
    EXPECT_EQ(lower, parse_uuid("0191F2AA-3B5C-7D10-8E2F-A1B2C3D4E5F6"));
    EXPECT_EQ(to_string(*lower), "0191f2aa-3b5c-7d10-8e2f-a1b2c3d4e5f6");
}

TEST(ids, nothing_else_is_an_id)
{
    for (const char* text : {"", "0191f2aa3b5c7d108e2fa1b2c3d4e5f6", "{0191f2aa-3b5c-7d10-8e2f-a1b2c3d4e5f6}",
                             "0191f2aa-3b5c-7d10-8e2f-a1b2c3d4e5f", "0191f2aa-3b5c-7d10-8e2f-a1b2c3d4e5f6 ",
                             "0191f2aa-3b5c-7d10-8e2f-a1b2c3d4e5fg", "0191f2aa_3b5c-7d10-8e2f-a1b2c3d4e5f6"})
        EXPECT_FALSE(parse_uuid(text)) << text;
}

TEST(ids, made_ids_are_distinct_and_carry_their_version)
{
    std::set<uuid> seen;
    for (int i = 0; i < 2000; ++i) {
        seen.insert(make_uuid_v4());
        seen.insert(make_uuid_v7());
    }
    EXPECT_EQ(seen.size(), 4000u);
    EXPECT_EQ(to_string(make_uuid_v4())[14], '4');
    EXPECT_EQ(to_string(make_uuid_v7())[14], '7');
}

TEST(ids, version_7_orders_by_time)
{
    const auto before = make_uuid_v7();
    const auto start = std::chrono::system_clock::now();
    while (std::chrono::system_clock::now() - start < std::chrono::milliseconds(2)) {
    }
    EXPECT_LT(before, make_uuid_v7());
}

}  // namespace
}  // namespace restante
