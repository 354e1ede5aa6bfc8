#include "storage/pq/newest_timeline.hpp"

#include <gtest/gtest.h>

namespace restante::pq {
namespace {

using namespace std::chrono_literals;

const newest_timeline::clock::time_point start{100h};

timeline_id of_ours(std::int32_t number)
{
    return {.cluster = 7, .number = number};
}

timeline_id of_unknown(std::int32_t number)
{
    return {.cluster = 0, .number = number};
}

TEST(newest_timeline, an_older_one_is_replaced_once_a_newer_one_was_met)
{
    newest_timeline met;
    EXPECT_FALSE(met.is_older(of_ours(3)));
    EXPECT_FALSE(met.is_replaced(of_ours(3), start));
    EXPECT_FALSE(met.is_replaced(of_ours(4), start + 1s));
    EXPECT_TRUE(met.is_replaced(of_ours(3), start + 2s));
    EXPECT_TRUE(met.is_older(of_ours(3)));
    EXPECT_FALSE(met.is_replaced(of_ours(4), start + 3s));
    EXPECT_FALSE(met.is_older(of_ours(4)));
}

TEST(newest_timeline, a_former_primary_stays_one_however_long_the_newer_one_is_away)
{
    newest_timeline met;
    EXPECT_FALSE(met.is_replaced(of_ours(2), start));
    EXPECT_TRUE(met.is_replaced(of_ours(1), start + 1000h));
    EXPECT_TRUE(met.is_older(of_ours(1)));
}

TEST(newest_timeline, another_cluster_counts_from_the_beginning)
{
    newest_timeline met;
    EXPECT_FALSE(met.is_replaced(of_ours(7), start));
    const timeline_id upgraded{.cluster = 8, .number = 1};
    EXPECT_FALSE(met.is_older(upgraded));
    EXPECT_FALSE(met.is_replaced(upgraded, start));
    EXPECT_FALSE(met.is_older(upgraded));
    EXPECT_TRUE(met.is_older(of_ours(6)));
}

TEST(newest_timeline, of_an_unknown_cluster_it_is_forgotten_when_it_has_not_been_met_for_long)
{
    newest_timeline met;
    EXPECT_FALSE(met.is_replaced(of_unknown(7), start));
    EXPECT_TRUE(met.is_replaced(of_unknown(1), start + newest_timeline::memory - 1s));
    EXPECT_FALSE(met.is_replaced(of_unknown(1), start + newest_timeline::memory));
    EXPECT_FALSE(met.is_older(of_unknown(1)));
}

TEST(newest_timeline, the_old_one_does_not_keep_itself_in_memory)
{
    newest_timeline met;
    EXPECT_FALSE(met.is_replaced(of_unknown(2), start));
    for (auto at = start; at < start + newest_timeline::memory; at += 1min) {
        EXPECT_FALSE(met.is_replaced(of_unknown(2), at));
        EXPECT_TRUE(met.is_replaced(of_unknown(1), at));
    }
}

TEST(newest_timeline, knows_the_clusters_whose_primary_was_met)
{
    newest_timeline met;
    EXPECT_FALSE(met.has_met(7));
    EXPECT_FALSE(met.is_replaced(of_ours(1), start));
    EXPECT_TRUE(met.has_met(7));
    EXPECT_FALSE(met.has_met(8));
}

}  // namespace
}  // namespace restante::pq
