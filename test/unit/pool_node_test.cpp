#include "storage/pq/pool_node.hpp"

#include <gtest/gtest.h>

namespace restante::pq {
namespace {

using verdict = pool_node::verdict;
using namespace std::chrono_literals;

const pool_node::clock::time_point t0{1h};

pool_node node_of(unsigned connections, unsigned waiters = 8)
{
    return pool_node({.connections = connections, .waiters = waiters});
}

TEST(pool_node, opens_until_full_then_queues_then_refuses)
{
    auto node = node_of(2, 1);
    EXPECT_EQ(node.ask(lane::small, 1, t0), verdict::open);
    EXPECT_EQ(node.ask(lane::small, 2, t0), verdict::open);
    EXPECT_EQ(node.ask(lane::small, 3, t0), verdict::wait);
    EXPECT_EQ(node.ask(lane::small, 4, t0), verdict::refuse_full);
    EXPECT_EQ(node.in_use(), 2u);
    EXPECT_EQ(node.waiting(), 1u);
}

TEST(pool_node, a_returned_connection_goes_to_the_oldest_waiter)
{
    auto node = node_of(1);
    node.ask(lane::small, 1, t0);
    node.opened();
    EXPECT_EQ(node.ask(lane::small, 2, t0), verdict::wait);
    EXPECT_EQ(node.ask(lane::small, 3, t0), verdict::wait);
    EXPECT_FALSE(node.serve(t0));
    node.returned_idle(lane::small);
    const auto next = node.serve(t0);
    ASSERT_TRUE(next);
    EXPECT_EQ(next->who, 2u);
    EXPECT_EQ(next->what, verdict::take_idle);
    EXPECT_FALSE(node.serve(t0));
}

TEST(pool_node, nobody_overtakes_those_who_wait)
{
    auto node = node_of(1);
    node.ask(lane::small, 1, t0);
    node.ask(lane::small, 2, t0);
    node.returned_idle(lane::small);
    EXPECT_EQ(node.ask(lane::small, 3, t0), verdict::wait);
    EXPECT_EQ(node.serve(t0)->who, 2u);
}

TEST(pool_node, large_work_holds_a_quarter_and_small_work_passes_it)
{
    auto node = node_of(8);
    EXPECT_EQ(node.large_limit(), 2u);
    EXPECT_EQ(node.ask(lane::large, 1, t0), verdict::open);
    EXPECT_EQ(node.ask(lane::large, 2, t0), verdict::open);
    EXPECT_EQ(node.ask(lane::large, 3, t0), verdict::wait);
    EXPECT_EQ(node.ask(lane::small, 4, t0), verdict::open);
    node.returned_idle(lane::small);
    EXPECT_FALSE(node.serve(t0)) << "an idle connection does not widen the large lane";
    node.returned_idle(lane::large);
    EXPECT_EQ(node.serve(t0)->who, 3u);
}

TEST(pool_node, a_pool_of_two_still_takes_one_large)
{
    EXPECT_EQ(node_of(2).large_limit(), 1u);
}

TEST(pool_node, a_lost_connection_lets_a_waiter_open_another)
{
    auto node = node_of(1);
    node.ask(lane::small, 1, t0);
    node.ask(lane::small, 2, t0);
    node.lost(lane::small);
    const auto next = node.serve(t0);
    EXPECT_EQ(next->what, verdict::open);
}

TEST(pool_node, a_dirty_connection_counts_until_it_is_clean)
{
    auto node = node_of(1);
    node.ask(lane::small, 1, t0);
    node.ask(lane::small, 2, t0);
    node.returned_dirty(lane::small);
    EXPECT_FALSE(node.serve(t0));
    node.cleaned();
    EXPECT_EQ(node.serve(t0)->what, verdict::take_idle);
}

TEST(pool_node, failure_to_connect_backs_off_doubling_to_two_seconds)
{
    auto node = node_of(1);
    auto now = t0;
    for (const auto expected : {50ms, 100ms, 200ms, 400ms, 800ms, 1600ms, 2000ms, 2000ms}) {
        ASSERT_EQ(node.ask(lane::small, 1, now), verdict::open);
        node.open_failed(lane::small, now);
        EXPECT_EQ(node.retry_at() - now, expected);
        EXPECT_EQ(node.ask(lane::small, 2, now), verdict::refuse_down);
        now = node.retry_at();
    }
    EXPECT_EQ(node.ask(lane::small, 1, now), verdict::open);
    node.opened();
    node.lost(lane::small);
    EXPECT_EQ(node.ask(lane::small, 1, now), verdict::open);
    node.open_failed(lane::small, now);
    EXPECT_EQ(node.retry_at() - now, 50ms) << "a success resets the backoff";
}

TEST(pool_node, waiters_are_told_when_the_database_is_away)
{
    auto node = node_of(1);
    node.ask(lane::small, 1, t0);
    node.ask(lane::small, 2, t0);
    node.open_failed(lane::small, t0);
    const auto next = node.serve(t0);
    ASSERT_TRUE(next);
    EXPECT_EQ(next->what, verdict::refuse_down);
}

TEST(pool_node, a_silent_database_is_asked_by_the_pool_alone)
{
    auto node = node_of(3);
    node.ask(lane::small, 1, t0);
    node.ask(lane::small, 2, t0);
    node.opened();
    node.returned_idle(lane::small);
    node.went_silent();
    EXPECT_EQ(node.idle(), 0u);
    EXPECT_EQ(node.ask(lane::small, 3, t0), verdict::refuse_down);

    node.opening_unasked();
    node.open_failed(lane::small, t0);
    EXPECT_EQ(node.ask(lane::small, 4, t0 + 1h), verdict::refuse_down);

    node.opening_unasked();
    node.opened();
    EXPECT_EQ(node.ask(lane::small, 5, t0), verdict::open);
}

TEST(pool_node, waiters_are_told_when_the_database_falls_silent)
{
    auto node = node_of(1);
    node.ask(lane::small, 1, t0);
    node.ask(lane::large, 2, t0);
    node.went_silent();
    const auto next = node.serve(t0);
    ASSERT_TRUE(next);
    EXPECT_EQ(next->what, verdict::refuse_down);
}

TEST(pool_node, one_who_leaves_is_not_served)
{
    auto node = node_of(1);
    node.ask(lane::small, 1, t0);
    node.ask(lane::small, 2, t0);
    node.leave(2);
    node.returned_idle(lane::small);
    EXPECT_FALSE(node.serve(t0));
    EXPECT_EQ(node.idle(), 1u);
}

}  // namespace
}  // namespace restante::pq
