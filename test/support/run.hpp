#pragma once

#include "core/asio.hpp"

#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <optional>

namespace restante::test {

// Runs one coroutine to completion on its own io_context, as a shard would, and returns its value. Coroutines
// that it spawned and that are still running are destroyed when it ends.
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
