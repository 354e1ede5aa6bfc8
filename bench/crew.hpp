#pragma once

#include "core/asio.hpp"

#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <memory>
#include <optional>

namespace restante::bench {

// Coroutines that are started together and waited for together.
class crew {
public:
    explicit crew(executor ex);
    void add(awaitable<void> work);

    // Until all have ended, or until one throws: then that comes out here at once.
    awaitable<void> done();

    // Throws what one of them has thrown so far, if one has.
    void check() const;

private:
    struct state;
    executor ex_;
    std::shared_ptr<state> state_;
};

// Runs the coroutine on a loop of its own, on this thread. What it throws comes out here, and whatever it had
// started and not waited for is dropped.
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
