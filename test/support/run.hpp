#pragma once

#include "core/asio.hpp"

#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <optional>

namespace restante::test {

// Runs one coroutine to its end on an io_context of its own, as a shard would, and gives its value. What the
// coroutine spawned and left running is cut off when it ends.
template <class Body>
auto run(Body body)
{
    asio::io_context shard(1);
    std::exception_ptr failure;
    const auto finish = [&](std::exception_ptr thrown) {
        failure = thrown;
        shard.stop();
    };
    asio::co_spawn(shard, body(), finish);
    shard.run();
    if (failure)
        std::rethrow_exception(failure);
}

}  // namespace restante::test
