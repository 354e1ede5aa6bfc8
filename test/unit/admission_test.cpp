#include "http/net/admission.hpp"

#include "test/support/run.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

#include <string>

namespace restante::test {
namespace {

using clock = std::chrono::steady_clock;

TEST(admission, lets_in_so_many_and_then_in_order_of_arrival)
{
    run([]() -> awaitable<void> {
        const auto ex = co_await asio::this_coro::executor;
        admission door(ex, 2);
        auto first = co_await door.enter_until(clock::time_point::max());
        auto second = co_await door.enter_until(clock::time_point::max());
        std::string order;
        const auto visit = [&](char name) -> awaitable<void> {
            auto place = co_await door.enter_until(clock::time_point::max());
            order += name;
            co_await asio::post(use_await);
        };
        for (const char name : {'a', 'b', 'c'})
            asio::co_spawn(ex, visit(name), [](std::exception_ptr failure) { EXPECT_FALSE(failure); });
        EXPECT_EQ(door.used(), 2u);
        EXPECT_EQ(order, "");
        first.reset();
        while (order.size() < 3)
            co_await asio::post(use_await);
        EXPECT_EQ(order, "abc");
        second.reset();
        while (door.used() > 0)
            co_await asio::post(use_await);
    });
}

TEST(admission, gives_up_in_time)
{
    run([]() -> awaitable<void> {
        admission door(co_await asio::this_coro::executor, 1);
        const auto taken = co_await door.enter_until(clock::time_point::max());
        const auto late = co_await door.enter_until(clock::now() + std::chrono::milliseconds(10));
        EXPECT_FALSE(late);
        EXPECT_EQ(door.used(), 1u);
    });
}

TEST(admission, one_who_is_cancelled_passes_the_place_on)
{
    run([]() -> awaitable<void> {
        const auto ex = co_await asio::this_coro::executor;
        admission door(ex, 1);
        auto taken = co_await door.enter_until(clock::time_point::max());
        asio::cancellation_signal stop;
        int entered = 0;
        int ended = 0;
        const auto visit = [&]() -> awaitable<void> {
            auto place = co_await door.enter_until(clock::time_point::max());
            co_await asio::post(use_await);
            ++entered;
        };
        asio::co_spawn(ex, visit(),
                       asio::bind_cancellation_slot(stop.slot(), [&](std::exception_ptr) { ++ended; }));
        asio::co_spawn(ex, visit(), [&](std::exception_ptr) { ++ended; });
        taken.reset();
        stop.emit(asio::cancellation_type::terminal);
        while (ended < 2)
            co_await asio::post(use_await);
        EXPECT_EQ(entered, 1);
        EXPECT_EQ(door.used(), 0u);
    });
}

}  // namespace
}  // namespace restante::test
