#include "core/ids.hpp"

#include "core/uuid_time.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>
#include <vector>

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

TEST(ids, version_7_grows_within_a_millisecond)
{
    std::vector<uuid> made(100'000);
    std::generate(made.begin(), made.end(), make_uuid_v7);
    EXPECT_TRUE(std::is_sorted(made.begin(), made.end()));
    EXPECT_EQ(std::adjacent_find(made.begin(), made.end()), made.end());
}

TEST(ids, version_7_grows_on_every_thread_and_repeats_nothing)
{
    std::vector<uuid> made[4];
    std::vector<std::thread> makers;
    for (auto& own : made)
        makers.emplace_back([&own] {
            own.resize(20'000);
            std::generate(own.begin(), own.end(), make_uuid_v7);
        });
    for (auto& each : makers)
        each.join();
    std::set<uuid> all;
    for (const auto& own : made) {
        EXPECT_TRUE(std::is_sorted(own.begin(), own.end()));
        all.insert(own.begin(), own.end());
    }
    EXPECT_EQ(all.size(), 80'000u);
}

TEST(ids, version_7_says_when_it_was_made)
{
    using std::chrono::floor;
    using std::chrono::milliseconds;
    const timestamp before(floor<milliseconds>(std::chrono::system_clock::now()).time_since_epoch());
    const auto made = time_of_uuid_v7(make_uuid_v7());
    ASSERT_TRUE(made);
    // The ids of the tests before may have run ahead of the clock, by a millisecond for every few thousand.
    EXPECT_GE(*made, before);
    EXPECT_LT(*made, before + std::chrono::seconds(10));
    EXPECT_EQ(*time_of_uuid_v7(*parse_uuid("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")),
              timestamp(milliseconds(1645557742000)));
    EXPECT_FALSE(time_of_uuid_v7(make_uuid_v4()));
}

}  // namespace
}  // namespace restante
