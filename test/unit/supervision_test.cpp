#include "server/app/shard.hpp"
#include "test/support/log_capture.hpp"

#include <gtest/gtest.h>

#include <future>
#include <gmock/gmock.h>

namespace restante {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// A task of a running shard throws twice. The third attempt succeeds, and another task is not affected.
TEST(supervision, a_task_that_throws_is_logged_counted_and_restarted_while_the_rest_goes_on)
{
    const log_capture log;
    shard home({.connections = 1, .handshakes = 1});
    std::promise<void> recovered, neighbour_done;
    int tries = 0;
    const auto flaky = [&]() -> awaitable<void> {
        if (++tries < 3)
            throw std::runtime_error("of no use today");
        recovered.set_value();
        co_return;
    };
    const auto neighbour = [&]() -> awaitable<void> {
        const bool stopped = co_await home.background().stopped_within(1h);
        EXPECT_TRUE(stopped);
        neighbour_done.set_value();
    };
    home.background().spawn_supervised("flaky", flaky, {1ms, 2ms});
    home.background().spawn_supervised("neighbour", neighbour);
    home.start();
    ASSERT_EQ(recovered.get_future().wait_for(10s), std::future_status::ready);
    home.stop(2s);
    EXPECT_TRUE(home.join());
    EXPECT_EQ(neighbour_done.get_future().wait_for(0s), std::future_status::ready);

    EXPECT_THAT(home.metrics().to_prometheus(),
                HasSubstr("molecule_task_restarts_total{task=\"flaky\"} 2\n"));
    EXPECT_THAT(log.lines().front(), HasSubstr("\"event\":\"task_failed\",\"task\":\"flaky\""));
}

}  // namespace
}  // namespace restante
