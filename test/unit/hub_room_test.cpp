#include "server/events/hub.hpp"
#include "test/support/run.hpp"

#include <boost/asio/co_spawn.hpp>

#include <gtest/gtest.h>

namespace restante {
namespace {

using namespace std::chrono_literals;

// Listeners that are being sent something, at a hub that never asks its database.
class room_for_listeners : public ::testing::Test {
protected:
    struct listener {
        listener(hub& at, std::size_t bytes)
            : admitted(at.admit({}, make_uuid_v4())), held(at.memory(), bytes)
        {
            admitted->hold(bytes);
            admitted->on_drop([this] { interrupted = true; });
        }
        bool sent_away() const { return admitted->cause() == close_cause::fell_behind; }

        std::unique_ptr<subscriber> admitted;
        event_memory::share held;
        bool interrupted = false;
    };

    template <class Body>
    void at_a_hub(Body body)
    {
        test::run([&]() -> awaitable<void> {
            const executor ex = co_await asio::this_coro::executor;
            metric_set metrics;
            pq::connection_pool nowhere(ex, {.connect = {}, .connections = 2});
            feed_tail tail(nowhere);
            hub at(ex, tail, metrics);
            co_await body(at, ex);
        });
    }

    static constexpr std::size_t mib = 1u << 20;
};

TEST_F(room_for_listeners, the_one_that_holds_most_for_longest_is_sent_away)
{
    at_a_hub([](hub& at, executor ex) -> awaitable<void> {
        listener slow(at, 15 * mib);
        steady_timer tick(ex, 50ms);
        co_await tick.async_wait(use_await);
        listener quick(at, 16 * mib);
        at.make_room(mib);
        EXPECT_FALSE(slow.sent_away() || quick.sent_away()) << "there is room";
        at.make_room(2 * mib);
        EXPECT_TRUE(slow.sent_away() && slow.interrupted);
        EXPECT_FALSE(quick.sent_away());
    });
}

TEST_F(room_for_listeners, what_is_about_to_be_given_back_counts)
{
    at_a_hub([](hub& at, executor) -> awaitable<void> {
        listener first(at, 16 * mib), second(at, 16 * mib);
        at.make_room(mib);
        EXPECT_NE(first.sent_away(), second.sent_away()) << "one of them is enough";
        at.make_room(mib);
        EXPECT_NE(first.sent_away(), second.sent_away()) << "and has not ended its write yet";
        co_return;
    });
}

TEST_F(room_for_listeners, what_is_reserved_waits_until_it_has_been_given_back)
{
    at_a_hub([](hub& at, executor ex) -> awaitable<void> {
        auto slow = std::make_unique<listener>(at, event_memory::limit);
        std::optional<event_memory::share> reserved;
        bool answered = false;
        asio::co_spawn(
            ex,
            [&]() -> awaitable<void> {
                reserved.emplace(*co_await at.reserve(mib));
                answered = true;
            },
            [](std::exception_ptr failure) { EXPECT_FALSE(failure); });
        steady_timer tick(ex, 20ms);
        co_await tick.async_wait(use_await);
        EXPECT_TRUE(slow->sent_away());
        EXPECT_FALSE(answered) << "its bytes are still there";
        EXPECT_EQ(at.memory().held(), event_memory::limit);
        slow.reset();
        tick.expires_after(20ms);
        co_await tick.async_wait(use_await);
        EXPECT_TRUE(answered);
        EXPECT_EQ(at.memory().held(), mib);
    });
}

TEST_F(room_for_listeners, one_that_holds_nothing_stays)
{
    at_a_hub([](hub& at, executor) -> awaitable<void> {
        listener idle(at, 0);
        at.make_room(2 * event_memory::limit);
        EXPECT_FALSE(idle.sent_away());
        co_return;
    });
}

}  // namespace
}  // namespace restante
