#pragma once

#include "storage/pq/pool.hpp"

#include <boost/asio/co_spawn.hpp>

namespace restante::test {

// Keeps a pool running for the duration of a body, and waits for it to finish: a pool must outlive its own
// run().
template <class Body>
awaitable<void> with_running(pq::connection_pool& pool, Body body)
{
    const executor ex = co_await asio::this_coro::executor;
    bool ended = false;
    asio::co_spawn(ex, pool.run(), [&](std::exception_ptr) { ended = true; });
    co_await body();
    pool.stop();
    steady_timer tick(ex);
    while (!ended) {
        tick.expires_after(std::chrono::milliseconds(2));
        co_await tick.async_wait(use_await);
    }
}

}  // namespace restante::test
