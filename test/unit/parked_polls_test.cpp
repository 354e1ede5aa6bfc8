#include "server/commit_fanout.hpp"
#include "test/support/run.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <optional>

namespace restante {
namespace {

using namespace std::chrono_literals;
using wake_up = parked_polls::wake_up;

class parked : public ::testing::Test {
protected:
    // One shard with a room in it, for the length of a coroutine.
    struct shard {
        explicit shard(executor ex) : requests(ex), room(ex, requests, counts) {}
        metrics counts;
        task_group requests;
        parked_polls room;

        double gauge() { return counts.gauge("molecule_parked_polls", "").value; }
    };

    template <class Body>
    void on_a_shard(Body body)
    {
        test::run([&]() -> awaitable<void> {
            shard s(co_await asio::this_coro::executor);
            co_await body(s);
        });
    }

    static awaitable<void> park(shard& s, uuid workspace, std::int64_t seen, std::optional<wake_up>& why)
    {
        parked_polls::place place(s.room, workspace);
        place.has_seen(seen);
        why = co_await place.wait_until(std::chrono::steady_clock::now() + 20s);
    }

    static awaitable<void> turn(executor ex)
    {
        steady_timer tick(ex, 1ms);
        co_await tick.async_wait(use_await);
    }

    const uuid mine = make_uuid_v4();
    const uuid others = make_uuid_v4();
};

TEST_F(parked, news_of_the_workspace_wakes_its_polls_and_no_other)
{
    on_a_shard([&](shard& s) -> awaitable<void> {
        std::optional<wake_up> first, second, foreign;
        s.requests.spawn("poll", park(s, mine, 4, first));
        s.requests.spawn("poll", park(s, mine, 4, second));
        s.requests.spawn("poll", park(s, others, 4, foreign));
        EXPECT_TRUE(s.room.anybody());
        EXPECT_EQ(s.gauge(), 3);
        s.room.wake(mine, 4);
        co_await turn(s.requests.get_executor());
        EXPECT_FALSE(first) << "it has seen that row";
        s.room.wake(mine, 5);
        co_await turn(s.requests.get_executor());
        EXPECT_EQ(first, wake_up::activity);
        EXPECT_EQ(second, wake_up::activity);
        EXPECT_FALSE(foreign);
        EXPECT_EQ(s.gauge(), 1);
        s.room.wake(others, 9);
        co_await turn(s.requests.get_executor());
        EXPECT_EQ(foreign, wake_up::activity);
        EXPECT_FALSE(s.room.anybody());
    });
}

TEST_F(parked, news_between_looking_and_waiting_are_not_lost)
{
    on_a_shard([&](shard& s) -> awaitable<void> {
        parked_polls::place place(s.room, mine);
        s.room.wake(mine, 7);
        place.has_seen(6);  // what the look gave, which began before row 7 was there
        const auto moment = std::chrono::steady_clock::now() + 20s;
        EXPECT_EQ(co_await place.wait_until(moment), wake_up::activity);
        const auto soon = std::chrono::steady_clock::now() + 10ms;
        EXPECT_EQ(co_await place.wait_until(soon), wake_up::timeout) << "and they are told once";
    });
}

TEST_F(parked, a_client_that_leaves_and_a_server_that_stops_end_the_wait)
{
    on_a_shard([&](shard& s) -> awaitable<void> {
        const auto moment = std::chrono::steady_clock::now() + 20s;
        parked_polls::place left(s.room, mine);
        left.leave();
        EXPECT_EQ(co_await left.wait_until(moment), wake_up::client_gone);

        std::optional<wake_up> why;
        s.requests.spawn("poll", park(s, mine, 0, why));
        s.requests.request_stop();
        co_await turn(s.requests.get_executor());
        EXPECT_EQ(why, wake_up::stopping);
        parked_polls::place late(s.room, mine);
        EXPECT_EQ(co_await late.wait_until(moment), wake_up::stopping)
            << "nobody parks in a server that stops";
    });
}

TEST_F(parked, the_room_has_an_end)
{
    on_a_shard([&](shard& s) -> awaitable<void> {
        std::deque<parked_polls::place> places;
        for (std::size_t i = 0; i < parked_polls::max_parked; ++i) {
            EXPECT_FALSE(s.room.full());
            places.emplace_back(s.room, mine);
        }
        EXPECT_TRUE(s.room.full());
        places.pop_back();
        EXPECT_FALSE(s.room.full());
        co_return;
    });
}

TEST_F(parked, a_commit_on_one_shard_wakes_the_polls_of_all)
{
    on_a_shard([&](shard& here) -> awaitable<void> {
        const executor ex = here.requests.get_executor();
        shard there(ex), empty(ex);
        parking_lots lots;
        for (auto* each : {&here, &there, &empty})
            lots.add(ex, each->room);
        commit_fanout fanout(here.room, lots);
        std::optional<wake_up> near, far;
        here.requests.spawn("poll", park(here, mine, 0, near));
        there.requests.spawn("poll", park(there, mine, 0, far));
        auto row = std::make_shared<committed_activity>();
        row->what.workspace_id = mine;
        row->seq = 1;
        fanout.on_commit(row);
        co_await turn(ex);
        EXPECT_EQ(near, wake_up::activity);
        EXPECT_EQ(far, wake_up::activity);
    });
}

}  // namespace
}  // namespace restante
