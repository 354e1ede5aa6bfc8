#include "bench/wait_group.hpp"

namespace restante::bench {

struct wait_group::state {
    explicit state(executor ex) : changed(ex) {}

    std::size_t running = 0;
    std::exception_ptr thrown;
    steady_timer changed;  // cancelled to wake the waiter
};

wait_group::wait_group(executor ex) : ex_(ex), state_(std::make_shared<state>(ex)) {}

void wait_group::add(awaitable<void> work)
{
    ++state_->running;
    asio::co_spawn(ex_, std::move(work), [all = state_](std::exception_ptr error) {
        --all->running;
        if (error && !all->thrown)
            all->thrown = error;
        if (error || all->running == 0)
            all->changed.cancel();
    });
}

awaitable<void> wait_group::wait()
{
    while (state_->running > 0 && !state_->thrown) {
        state_->changed.expires_at(steady_timer::time_point::max());
        co_await state_->changed.async_wait(use_tuple);
    }
    rethrow_failure();
}

void wait_group::rethrow_failure() const
{
    if (state_->thrown)
        std::rethrow_exception(state_->thrown);
}

}  // namespace restante::bench
