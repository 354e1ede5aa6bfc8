#include "storage/workspace_turns.hpp"

#include "test/support/run.hpp"

#include <boost/asio/co_spawn.hpp>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace restante {
namespace {

using namespace std::chrono_literals;

const uuid alice{{1}}, bob{{2}};

class turns : public ::testing::Test {
protected:
    template <class Body>
    void with_turns(workspace_turns::limits limits, Body body)
    {
        test::run([&]() -> awaitable<void> {
            workspace_turns all(limits);
            co_await body(all);
            co_await until([&] { return all.waiting() == 0; });
        });
    }

    // Takes a turn and keeps it until the test lets it go.
    struct taker {
        bool ended = false;
        std::optional<workspace_turns::turn> got;
    };

    static awaitable<void> take(workspace_turns& all, uuid workspace, taker& into, bool restricted = false)
    {
        auto turn = co_await all.take(workspace, restricted);
        into.ended = true;
        if (turn)
            into.got.emplace(std::move(*turn));
    }

    static awaitable<void> start(workspace_turns& all, uuid workspace, taker& into, bool restricted = false)
    {
        const executor ex = co_await asio::this_coro::executor;
        const auto before = all.waiting();
        asio::co_spawn(ex, take(all, workspace, into, restricted),
                       [](std::exception_ptr e) { EXPECT_FALSE(e); });
        co_await until([&] { return into.ended || all.waiting() > before; });
    }

    template <class Condition>
    static awaitable<void> until(Condition met)
    {
        steady_timer tick(co_await asio::this_coro::executor);
        for (int i = 0; i < 5000 && !met(); ++i) {
            tick.expires_after(1ms);
            co_await tick.async_wait(use_await);
        }
        EXPECT_TRUE(met());
    }
};

TEST_F(turns, a_workspace_has_so_many_at_a_time_and_keeps_no_other_waiting)
{
    with_turns({.each = 2, .wait_limit = 1h}, [](workspace_turns& all) -> awaitable<void> {
        taker first, second, third, fourth, other;
        for (auto* each : {&first, &second, &third, &fourth})
            co_await start(all, alice, *each);
        co_await start(all, bob, other);
        EXPECT_TRUE(first.got && second.got && other.got);
        EXPECT_FALSE(third.ended || fourth.ended);
        second.got.reset();
        co_await until([&] { return third.ended; });
        EXPECT_FALSE(fourth.ended) << "in order, and no more than two";
        first.got.reset();
        co_await until([&] { return fourth.ended; });
    });
}

TEST_F(turns, a_restricted_one_goes_on_alone)
{
    with_turns({.each = 2, .wait_limit = 1h}, [](workspace_turns& all) -> awaitable<void> {
        taker first, second, third;
        co_await start(all, alice, first, true);
        co_await start(all, alice, second, true);
        co_await start(all, alice, third);
        EXPECT_TRUE(first.got);
        EXPECT_FALSE(second.ended || third.ended) << "nobody overtakes those who wait";
        first.got.reset();
        co_await until([&] { return second.ended && third.ended; });
    });
}

TEST_F(turns, waiting_is_bounded_in_number_and_time)
{
    const workspace_turns::limits few{.each = 1, .waiting = 3, .waiting_each = 2, .wait_limit = 50ms};
    with_turns(few, [](workspace_turns& all) -> awaitable<void> {
        taker running, first, second, too_many;
        for (auto* each : {&running, &first, &second})
            co_await start(all, alice, *each);
        co_await take(all, alice, too_many);
        EXPECT_FALSE(too_many.got);
        co_await until([&] { return first.ended && second.ended; });
        EXPECT_FALSE(first.got || second.got) << "not their turn in time";
        EXPECT_EQ(all.waiting(), 0u);
        running.got.reset();
        taker again;
        co_await take(all, alice, again);
        EXPECT_TRUE(again.got);
    });
}

TEST_F(turns, who_waits_behind_one_that_gives_up_has_its_turn_then)
{
    with_turns({.each = 2, .wait_limit = 500ms}, [](workspace_turns& all) -> awaitable<void> {
        taker running, restricted, behind;
        co_await start(all, alice, running);
        co_await start(all, alice, restricted, true);
        steady_timer later(co_await asio::this_coro::executor, 100ms);
        co_await later.async_wait(use_await);
        co_await start(all, alice, behind);
        co_await until([&] { return restricted.ended && behind.ended; });
        EXPECT_TRUE(running.got && !restricted.got);
        EXPECT_TRUE(behind.got) << "one of two places was free";
    });
}

}  // namespace
}  // namespace restante
