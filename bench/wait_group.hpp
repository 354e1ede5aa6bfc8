#pragma once

#include "core/asio.hpp"

#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <memory>
#include <optional>

namespace restante::bench {

// Starts coroutines and waits for all of them.
class wait_group {
public:
    explicit wait_group(executor ex);
    void add(awaitable<void> work);

    // Returns once all have ended. If one throws, rethrows that at once.
    awaitable<void> wait();

    // Rethrows the first exception so far, if there is one.
    void rethrow_failure() const;

private:
    struct state;
    executor ex_;
    std::shared_ptr<state> state_;
};

// Runs the coroutine on this event loop and thread and returns its result, or rethrows its exception.
// Coroutines that it started and did not wait for are abandoned.
template <class T>
T run_to_end(asio::io_context& loop, awaitable<T> work)
{
    std::optional<T> made;
    std::exception_ptr thrown;
    asio::co_spawn(loop, std::move(work), [&](std::exception_ptr error, T value) {
        thrown = error;
        made = std::move(value);
        loop.stop();
    });
    loop.run();
    if (thrown)
        std::rethrow_exception(thrown);
    return std::move(*made);
}

}  // namespace restante::bench
