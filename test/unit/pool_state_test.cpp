#include "storage/pq/pool_state.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace restante::pq {
namespace {

using verdict = pool_state::verdict;
using namespace std::chrono_literals;

const pool_state::clock::time_point t0{1h};
const purpose small{lane::small, {}};
const purpose large{lane::large, {}};
const uuid alice{{1}}, bob{{2}};

pool_state node_of(unsigned connections, unsigned waiters = 8)
{
    return pool_state({.connections = connections, .waiters = waiters, .waiters_each = waiters});
}

// A node whose connections are all open and idle.
pool_state open_node(unsigned connections, unsigned waiters = 1000)
{
    auto node = node_of(connections, waiters);
    for (unsigned i = 0; i < connections; ++i)
        node.ask(small, 1000 + i, t0);
    while (node.should_open(t0))
        node.opened();
    for (unsigned i = 0; i < connections; ++i)
        node.leave(1000 + i);
    return node;
}

TEST(pool_state, callers_wait_while_the_pool_opens_one_for_each)
{
    auto node = node_of(2, 3);
    EXPECT_EQ(node.ask(small, 1, t0), verdict::wait);
    EXPECT_TRUE(node.should_open(t0));
    EXPECT_FALSE(node.should_open(t0)) << "one is on its way for one waiter";
    EXPECT_EQ(node.ask(small, 2, t0), verdict::wait);
    EXPECT_TRUE(node.should_open(t0));
    EXPECT_EQ(node.ask(small, 3, t0), verdict::wait);
    EXPECT_FALSE(node.should_open(t0)) << "no more than two";
    EXPECT_EQ(node.ask(small, 4, t0), verdict::refuse_full);
    EXPECT_EQ(node.waiting(), 3u);
}

TEST(pool_state, a_waiter_takes_whichever_is_free_first)
{
    auto node = node_of(2);
    node.ask(small, 1, t0);
    node.should_open(t0);
    node.opened();
    EXPECT_EQ(node.serve(t0)->who, 1u);
    node.ask(small, 2, t0);
    EXPECT_TRUE(node.should_open(t0));
    node.returned_idle(small);
    EXPECT_EQ(node.serve(t0)->who, 2u) << "the returned one, without waiting for the one being opened";
    node.opened();
    EXPECT_FALSE(node.serve(t0));
    EXPECT_EQ(node.ask(small, 3, t0), verdict::take_idle) << "the opened one";
}

TEST(pool_state, a_waiter_that_leaves_loses_no_connection)
{
    auto node = node_of(1);
    node.ask(small, 1, t0);
    EXPECT_TRUE(node.should_open(t0));
    node.leave(1);
    node.opened();
    EXPECT_FALSE(node.serve(t0));
    EXPECT_EQ(node.idle(), 1u);
    EXPECT_EQ(node.in_use(), 0u);
}

TEST(pool_state, an_opening_that_was_given_up_frees_its_place)
{
    auto node = node_of(1);
    node.ask(small, 1, t0);
    EXPECT_TRUE(node.should_open(t0));
    node.open_abandoned();
    EXPECT_TRUE(node.should_open(t0));
}

TEST(pool_state, a_returned_connection_goes_to_the_oldest_waiter)
{
    auto node = open_node(1);
    EXPECT_EQ(node.ask(small, 1, t0), verdict::take_idle);
    EXPECT_EQ(node.ask(small, 2, t0), verdict::wait);
    EXPECT_EQ(node.ask(small, 3, t0), verdict::wait);
    EXPECT_FALSE(node.serve(t0));
    node.returned_idle(small);
    const auto next = node.serve(t0);
    ASSERT_TRUE(next);
    EXPECT_EQ(next->who, 2u);
    EXPECT_EQ(next->what, verdict::take_idle);
    EXPECT_FALSE(node.serve(t0));
}

TEST(pool_state, nobody_overtakes_those_who_wait)
{
    auto node = open_node(1);
    node.ask(small, 1, t0);
    node.ask(small, 2, t0);
    node.returned_idle(small);
    EXPECT_EQ(node.ask(small, 3, t0), verdict::wait);
    EXPECT_EQ(node.serve(t0)->who, 2u);
}

TEST(pool_state, large_work_holds_a_quarter_and_small_work_passes_it)
{
    auto node = open_node(8);
    EXPECT_EQ(node.large_limit(), 2u);
    EXPECT_EQ(node.ask(large, 1, t0), verdict::take_idle);
    EXPECT_EQ(node.ask(large, 2, t0), verdict::take_idle);
    EXPECT_EQ(node.ask(large, 3, t0), verdict::wait);
    EXPECT_EQ(node.ask(small, 4, t0), verdict::take_idle);
    node.returned_idle(small);
    EXPECT_FALSE(node.serve(t0)) << "an idle connection does not widen the large lane";
    node.returned_idle(large);
    EXPECT_EQ(node.serve(t0)->who, 3u);
}

TEST(pool_state, nothing_is_opened_for_large_work_whose_lane_is_full)
{
    auto node = node_of(8);
    for (pool_state::ticket i = 1; i <= 5; ++i)
        node.ask(large, i, t0);
    EXPECT_TRUE(node.should_open(t0));
    EXPECT_TRUE(node.should_open(t0));
    EXPECT_FALSE(node.should_open(t0));
}

TEST(pool_state, a_pool_of_two_still_takes_one_large)
{
    EXPECT_EQ(node_of(2).large_limit(), 1u);
}

TEST(pool_state, owners_are_served_in_turn)
{
    auto node = open_node(1);
    node.ask(small, 1, t0);
    for (pool_state::ticket i = 10; i < 20; ++i)
        node.ask({lane::small, alice}, i, t0);
    node.ask({lane::small, bob}, 20, t0);
    node.ask(small, 21, t0);
    node.ask({lane::small, bob}, 22, t0);
    std::vector<pool_state::ticket> order;
    for (purpose last = small; order.size() < 6;) {
        node.returned_idle(last);
        const auto next = node.serve(t0);
        ASSERT_TRUE(next);
        order.push_back(next->who);
        last = next->used_for;
    }
    EXPECT_EQ(order, (std::vector<pool_state::ticket>{10, 20, 21, 11, 22, 12}));
}

TEST(pool_state, an_owner_with_half_of_the_lane_stands_back_while_others_wait)
{
    auto node = open_node(4);
    for (pool_state::ticket i = 1; i <= 4; ++i)
        EXPECT_EQ(node.ask({lane::small, alice}, i, t0), verdict::take_idle) << "nobody else wants one";
    for (pool_state::ticket i = 5; i <= 8; ++i)
        node.ask({lane::small, alice}, i, t0);
    for (pool_state::ticket i = 11; i <= 13; ++i)
        node.ask({lane::small, bob}, i, t0);
    std::vector<pool_state::ticket> order;
    for (int i = 0; i < 4; ++i) {
        node.returned_idle({lane::small, alice});
        order.push_back(node.serve(t0)->who);
    }
    EXPECT_EQ(order, (std::vector<pool_state::ticket>{11, 12, 5, 6})) << "until each has two";
}

TEST(pool_state, one_owner_alone_may_use_everything)
{
    auto node = open_node(4);
    for (pool_state::ticket i = 1; i <= 6; ++i)
        node.ask({lane::small, alice}, i, t0);
    EXPECT_EQ(node.in_use(), 4u);
    node.returned_idle({lane::small, alice});
    EXPECT_EQ(node.serve(t0)->who, 5u);
}

TEST(pool_state, one_owner_fills_only_its_part_of_the_queue)
{
    pool_state node({.connections = 1, .waiters = 5, .waiters_each = 3});
    for (pool_state::ticket i = 1; i <= 3; ++i)
        EXPECT_EQ(node.ask({lane::small, alice}, i, t0), verdict::wait);
    EXPECT_EQ(node.ask({lane::small, alice}, 4, t0), verdict::refuse_full);
    EXPECT_EQ(node.ask({lane::small, bob}, 5, t0), verdict::wait);
    EXPECT_EQ(node.ask({lane::small, bob}, 6, t0), verdict::wait);
    EXPECT_EQ(node.ask({lane::small, bob}, 7, t0), verdict::refuse_full) << "all places are taken";
    EXPECT_EQ(node.ask({lane::large, alice}, 8, t0), verdict::wait) << "the lanes have places of their own";
    for (pool_state::ticket i = 11; i <= 13; ++i)
        EXPECT_EQ(node.ask(small, i, t0), verdict::wait) << "the server itself finds room";
    EXPECT_EQ(node.ask(small, 14, t0), verdict::refuse_full);
}

TEST(pool_state, a_lost_connection_is_replaced_for_a_waiter)
{
    auto node = open_node(1);
    node.ask(small, 1, t0);
    node.ask(small, 2, t0);
    EXPECT_FALSE(node.should_open(t0));
    node.lost(small);
    EXPECT_TRUE(node.should_open(t0));
}

TEST(pool_state, a_dirty_connection_counts_until_it_is_clean)
{
    auto node = open_node(1);
    node.ask(small, 1, t0);
    node.ask(small, 2, t0);
    node.returned_dirty(small);
    EXPECT_FALSE(node.serve(t0));
    EXPECT_FALSE(node.should_open(t0));
    node.cleaned();
    EXPECT_EQ(node.serve(t0)->what, verdict::take_idle);
}

TEST(pool_state, failure_to_connect_backs_off_doubling_to_two_seconds)
{
    auto node = node_of(1);
    auto now = t0;
    for (const auto expected : {50ms, 100ms, 200ms, 400ms, 500ms, 500ms}) {
        ASSERT_EQ(node.ask(small, 1, now), verdict::wait);
        ASSERT_TRUE(node.should_open(now));
        node.open_failed(now);
        EXPECT_EQ(node.retry_at() - now, expected);
        EXPECT_EQ(node.serve(now)->what, verdict::refuse_down);
        EXPECT_EQ(node.ask(small, 2, now), verdict::refuse_down);
        EXPECT_FALSE(node.should_open_for_pool(now));
        now = node.retry_at();
    }
    ASSERT_TRUE(node.should_open_for_pool(now));
    node.opened();
    node.idle_lost();
    ASSERT_TRUE(node.should_open_for_pool(now));
    node.open_failed(now);
    EXPECT_EQ(node.retry_at() - now, 50ms) << "a success resets the backoff";
}

TEST(pool_state, attempts_that_fail_together_are_one_failure)
{
    auto node = node_of(4);
    for (pool_state::ticket i = 1; i <= 4; ++i)
        node.ask(small, i, t0);
    while (node.should_open(t0)) {
    }
    EXPECT_EQ(node.opening(), 4u);
    for (int i = 0; i < 4; ++i)
        node.open_failed(t0);
    EXPECT_EQ(node.retry_at() - t0, 50ms);
}

TEST(pool_state, waiters_are_refused_when_the_database_is_unavailable)
{
    auto node = node_of(1);
    node.ask(small, 1, t0);
    node.ask(large, 2, t0);
    node.should_open(t0);
    EXPECT_FALSE(node.serve(t0));
    node.open_failed(t0);
    EXPECT_EQ(node.serve(t0)->what, verdict::refuse_down);
    EXPECT_EQ(node.serve(t0)->what, verdict::refuse_down);
    EXPECT_FALSE(node.serve(t0));
}

TEST(pool_state, waiters_wait_on_while_a_connection_may_come_back)
{
    auto node = open_node(1);
    node.ask(small, 1, t0);
    node.ask(small, 2, t0);
    EXPECT_FALSE(node.should_open(t0));
    EXPECT_FALSE(node.serve(t0));
    node.returned_idle(small);
    EXPECT_EQ(node.serve(t0)->what, verdict::take_idle);
}

TEST(pool_state, a_silent_database_is_asked_by_the_pool_alone)
{
    auto node = open_node(3);
    node.ask(small, 1, t0);
    node.went_silent();
    EXPECT_EQ(node.idle(), 0u);
    EXPECT_EQ(node.ask(small, 3, t0), verdict::refuse_down);

    EXPECT_TRUE(node.should_open_for_pool(t0));
    EXPECT_FALSE(node.should_open_for_pool(t0)) << "one at a time";
    node.open_failed(t0);
    EXPECT_EQ(node.ask(small, 4, t0 + 1h), verdict::refuse_down);

    EXPECT_TRUE(node.should_open_for_pool(t0 + 1h));
    node.opened();
    EXPECT_EQ(node.ask(small, 5, t0), verdict::take_idle);
}

TEST(pool_state, waiters_are_refused_when_the_database_falls_silent)
{
    auto node = open_node(1);
    node.ask(small, 1, t0);
    node.ask(large, 2, t0);
    node.went_silent();
    const auto next = node.serve(t0);
    ASSERT_TRUE(next);
    EXPECT_EQ(next->what, verdict::refuse_down);
}

TEST(pool_state, one_who_leaves_is_not_served)
{
    auto node = open_node(1);
    node.ask(small, 1, t0);
    node.ask(small, 2, t0);
    node.leave(2);
    node.returned_idle(small);
    EXPECT_FALSE(node.serve(t0));
    EXPECT_EQ(node.idle(), 1u);
}

TEST(pool_state, backends_that_were_given_up_and_still_run_count)
{
    auto node = open_node(4);
    for (pool_state::ticket i = 1; i <= 4; ++i)
        node.ask(small, i, t0);
    node.lost(small);
    node.abandoned(1);
    EXPECT_EQ(node.ask(small, 5, t0), verdict::wait);
    EXPECT_FALSE(node.should_open(t0)) << "three at work, and one that nobody uses";
    node.lost(small);
    node.abandoned(2);
    node.lost(small);
    node.abandoned(3);
    EXPECT_EQ(node.ask(small, 6, t0), verdict::refuse_full) << "at once, not after a wait";
    EXPECT_FALSE(node.should_open(t0));
    node.lost(small);
    node.abandoned(4);
    EXPECT_EQ(node.serve(t0)->what, verdict::refuse_full);
    EXPECT_TRUE(node.should_open_for_pool(t0)) << "or nobody could find out that they have ended";
    node.opened();
    EXPECT_EQ(node.ask(small, 7, t0), verdict::refuse_full);
    EXPECT_TRUE(node.take_idle_for_pool());
    node.abandoned(0);
    node.returned_idle(small);
    EXPECT_EQ(node.ask(small, 8, t0), verdict::take_idle);
}

}  // namespace
}  // namespace restante::pq
