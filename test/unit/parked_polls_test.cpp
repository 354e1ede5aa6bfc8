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

    awaitable<void> park(shard& s, uuid workspace, std::int64_t seen, bool& woken)
    {
        parked_polls::place place(s.room, workspace, nobody);
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
    const principal nobody;
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
        parked_polls::place place(s.room, mine, nobody);
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

TEST_F(parked, a_revoked_token_ends_its_polls_and_no_others)
{
    const auto holder = [&](std::uint8_t number) {
        principal who{.kind = principal_kind::workspace, .token = make_uuid_v4()};
        who.token_hash.fill(number);
        who.workspace.id = mine;
        return who;
    };
    const principal first = holder(1), second = holder(2);
    on_a_shard([&](shard& s) -> awaitable<void> {
        parked_polls::place one(s.room, mine, first), two(s.room, mine, second), admin(s.room, mine, nobody);
        std::vector<digest32> tokens;
        s.room.add_tokens(tokens);
        EXPECT_EQ(tokens, (std::vector<digest32>{first.token_hash, second.token_hash}));
        s.room.on_token_revoked(first.token);
        EXPECT_TRUE(one.refused());
        EXPECT_FALSE(two.refused());
        const auto begun = std::chrono::steady_clock::now();
        co_await one.wait(begun + 20s);
        EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s);
        s.room.refuse_token(second.token_hash);
        EXPECT_TRUE(two.refused());
        parked_polls::place again(s.room, mine, first);
        s.room.on_workspace_removed(others);
        EXPECT_FALSE(again.refused());
        s.room.on_workspace_removed(mine);
        EXPECT_TRUE(again.refused());
        EXPECT_FALSE(admin.refused());
    });
}

TEST_F(parked, the_room_has_an_end)
{
    on_a_shard([&](shard& s) -> awaitable<void> {
        std::deque<parked_polls::place> places;
        for (std::size_t i = 0; i < parked_polls::most; ++i)
            EXPECT_TRUE(places.emplace_back(s.room, mine, nobody).granted());
        EXPECT_FALSE(parked_polls::place(s.room, mine, nobody).granted());
        places.pop_back();
        EXPECT_TRUE(parked_polls::place(s.room, mine, nobody).granted());
        co_return;
    });
}

}  // namespace
}  // namespace restante
