#include "bench/crew.hpp"

namespace restante::bench {

struct crew::state {
    explicit state(executor ex) : bell(ex) {}

    std::size_t running = 0;
    std::exception_ptr thrown;
    steady_timer bell;  // rung by cancelling it
};

crew::crew(executor ex) : ex_(ex), state_(std::make_shared<state>(ex)) {}

void crew::add(awaitable<void> work)
{
    ++state_->running;
    asio::co_spawn(ex_, std::move(work), [all = state_](std::exception_ptr error) {
        --all->running;
        if (error && !all->thrown)
            all->thrown = error;
        if (error || all->running == 0)
            all->bell.cancel();
    });
}

awaitable<void> crew::done()
{
    while (state_->running > 0 && !state_->thrown) {
        state_->bell.expires_at(steady_timer::time_point::max());
        co_await state_->bell.async_wait(use_tuple);
    }
    check();
}

void crew::check() const
{
    if (state_->thrown)
        std::rethrow_exception(state_->thrown);
}

}  // namespace restante::bench
