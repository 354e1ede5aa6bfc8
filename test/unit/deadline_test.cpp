#include "core/deadline.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace restante {

namespace {

using namespace std::chrono_literals;

struct deadline_test : testing::Test {
    asio::io_context shard{1};
    int calls = 0;
    deadline limit{shard.get_executor(), [this] { ++calls; }};
};

TEST_F(deadline_test, calls_once_when_the_moment_has_passed)
{
    limit.expires_after(10ms);
    shard.run();
    EXPECT_EQ(calls, 1);
    EXPECT_TRUE(limit.expired());
}

TEST_F(deadline_test, is_moved_later_and_cleared)
{
    limit.expires_after(1ms);
    limit.expires_after(1h);
    shard.run_for(20ms);
    EXPECT_EQ(calls, 0);
    limit.expires_after(1ms);
    limit.clear();
    shard.run_for(20ms);
    EXPECT_EQ(calls, 0);
    EXPECT_FALSE(limit.expired());
}

// As after SIGCONT: the deadline is long past, and the awaited input is still unread.
TEST_F(deadline_test, a_process_that_stood_still_takes_in_what_came_meanwhile)
{
    limit.expires_after(1ms);
    std::this_thread::sleep_for(standstill + 50ms);
    shard.poll();
    EXPECT_EQ(calls, 0);
    limit.clear();
    shard.run();
    EXPECT_EQ(calls, 0);
}

TEST_F(deadline_test, a_second_chance_comes_once)
{
    limit.expires_after(1ms);
    std::this_thread::sleep_for(standstill + 50ms);
    shard.poll();
    std::this_thread::sleep_for(standstill + second_chance + 50ms);
    shard.restart();
    shard.poll();
    EXPECT_EQ(calls, 1);
    EXPECT_TRUE(limit.expired());
}

}  // namespace

}  // namespace restante
