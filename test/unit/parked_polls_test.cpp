#include "server/events/parked_polls.hpp"

#include "core/task_group.hpp"
#include "test/support/run.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace restante {
namespace {

using namespace std::chrono_literals;

class parked : public ::testing::Test {
protected:
    struct shard {
        explicit shard(executor ex) : tasks(ex), room(ex, metrics) {}
        metric_set metrics;
        task_group tasks;
        parked_polls room;

        double gauge() { return metrics.gauge("molecule_parked_polls", "").value; }
    };

    template <class Body>
    void on_a_shard(Body body)
    {
        test::run([&]() -> awaitable<void> {
            shard s(co_await asio::this_coro::executor);
            co_await body(s);
        });
    }

    static awaitable<void> park(shard& s, uuid workspace, std::int64_t seen, bool& woken)
    {
        parked_polls::place place(s.room, workspace);
        place.has_seen(seen);
        co_await place.wait(std::chrono::steady_clock::now() + 20s);
        woken = true;
    }

    static awaitable<void> turn(executor ex)
    {
        steady_timer tick(ex, 1ms);
        co_await tick.async_wait(use_await);
    }

    const uuid mine = make_uuid_v4();
    const uuid others = make_uuid_v4();
};

TEST_F(parked, news_of_the_workspace_wakes_the_polls_that_have_not_seen_them)
{
    on_a_shard([&](shard& s) -> awaitable<void> {
        bool first = false, second = false, foreign = false;
        s.tasks.spawn("poll", park(s, mine, 4, first));
        s.tasks.spawn("poll", park(s, mine, 5, second));
        s.tasks.spawn("poll", park(s, others, 4, foreign));
        EXPECT_EQ(s.gauge(), 3);
        s.room.wake(mine, 4);
        co_await turn(s.tasks.get_executor());
        EXPECT_FALSE(first) << "it has seen that row";
        s.room.wake(mine, 5);
        co_await turn(s.tasks.get_executor());
        EXPECT_TRUE(first);
        EXPECT_FALSE(second || foreign);
        EXPECT_EQ(s.gauge(), 2);
        s.room.wake(mine, 6);
        s.room.wake(others, 9);
        co_await turn(s.tasks.get_executor());
        EXPECT_TRUE(second && foreign);
        EXPECT_EQ(s.gauge(), 0);
    });
}

TEST_F(parked, news_between_looking_and_waiting_are_not_lost_and_are_told_once)
{
    on_a_shard([&](shard& s) -> awaitable<void> {
        parked_polls::place place(s.room, mine);
        place.look_again();
        s.room.wake(mine, 7);
        place.has_seen(6);  // the result of a query that started before row 7 existed
        const auto begun = std::chrono::steady_clock::now();
        co_await place.wait(begun + 20s);
        EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s);
        place.look_again();
        s.room.wake(mine, 7);
        const auto again = std::chrono::steady_clock::now();
        co_await place.wait(again + 20ms);
        EXPECT_GE(std::chrono::steady_clock::now() - again, 20ms);
    });
}

TEST_F(parked, the_room_has_an_end)
{
    on_a_shard([&](shard& s) -> awaitable<void> {
        std::deque<parked_polls::place> places;
        for (std::size_t i = 0; i < parked_polls::most; ++i)
            EXPECT_TRUE(places.emplace_back(s.room, mine).granted());
        EXPECT_FALSE(parked_polls::place(s.room, mine).granted());
        places.pop_back();
        EXPECT_TRUE(parked_polls::place(s.room, mine).granted());
        co_return;
    });
}

}  // namespace
}  // namespace restante
