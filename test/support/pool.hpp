#pragma once

#include "core/task_group.hpp"
#include "storage/pq/pool.hpp"
#include "test/support/run.hpp"

#include <gtest/gtest.h>

namespace restante::test {

// A pool whose run() is active for the duration of one coroutine.
template <class Body>
void with_pool(const pq::connect_options& connect, unsigned connections, Body body)
{
    run([&]() -> awaitable<void> {
        const executor ex = co_await asio::this_coro::executor;
        pq::connection_pool pool(ex, {.connect = connect, .connections = connections});
        task_group tasks(ex);
        tasks.spawn("pool", pool.run());
        co_await body(pool);
        pool.stop();
        const bool ended = co_await tasks.shutdown(std::chrono::seconds(5));
        EXPECT_TRUE(ended);
    });
}

}  // namespace restante::test
