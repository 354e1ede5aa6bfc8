#include "server/api/agents/stranger_queue.hpp"

#include "test/support/run.hpp"

#include <boost/asio/co_spawn.hpp>
#include <gtest/gtest.h>

namespace restante {
namespace {

using namespace std::chrono_literals;

class strangers_that_ask : public ::testing::Test {
protected:
    using answers = std::vector<error_code>;

    // Asks, and gives its turn back at once.
    static void ask(executor ex, stranger_queue& queue, answers& into)
    {
        const auto one = [&queue, &into]() -> awaitable<void> {
            const auto turn = co_await queue.wait();
            into.push_back(turn ? error_code() : turn.error());
        };
        asio::co_spawn(ex, one, [](std::exception_ptr e) { EXPECT_FALSE(e); });
    }

    static awaitable<void> wait_for(executor ex, const answers& of, std::size_t count)
    {
        steady_timer tick(ex);
        while (of.size() < count) {
            tick.expires_after(1ms);
            co_await tick.async_wait(use_await);
        }
    }
};

TEST_F(strangers_that_ask, wait_for_their_turn)
{
    test::run([]() -> awaitable<void> {
        const executor ex = co_await asio::this_coro::executor;
        stranger_queue queue(ex);
        answers got;
        {
            const auto first = co_await queue.wait();
            EXPECT_TRUE(first.has_value());
            for (int i = 0; i < 10; ++i)
                ask(ex, queue, got);
            steady_timer moment(ex, 10ms);
            co_await moment.async_wait(use_await);
            EXPECT_TRUE(got.empty());
        }
        co_await wait_for(ex, got, 10);
        EXPECT_EQ(got, answers(10));
    });
}

TEST_F(strangers_that_ask, are_refused_when_too_many_wait_or_it_takes_too_long)
{
    test::run([]() -> awaitable<void> {
        const executor ex = co_await asio::this_coro::executor;
        stranger_queue queue(ex);
        const auto first = co_await queue.wait();
        answers got;
        const auto began = std::chrono::steady_clock::now();
        for (std::size_t i = 0; i < stranger_queue::most_waiting + 3; ++i)
            ask(ex, queue, got);
        co_await wait_for(ex, got, 3);
        co_await wait_for(ex, got, stranger_queue::most_waiting + 3);
        EXPECT_GE(std::chrono::steady_clock::now() - began, stranger_queue::longest_wait);
        for (const auto& each : got)
            EXPECT_EQ(each, errc::database_busy);
        answers later;
        ask(ex, queue, later);
        co_await wait_for(ex, later, 1);
        EXPECT_EQ(later, answers{RESTANTE_ERROR(errc::database_busy)}) << "the first still has its turn";
    });
}

}  // namespace
}  // namespace restante
