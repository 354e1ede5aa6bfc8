#include "http/net/admission.hpp"

namespace restante {

admission::ticket::~ticket()
{
    if (from_)
        from_->leave();
}

awaitable<std::optional<admission::ticket>> admission::enter_until(time_point moment)
{
    while (used_ >= places_) {
        waiter self(executor_);
        self.timer.expires_at(moment);
        waiters_.push_back(self);
        const auto [ec] = co_await self.timer.async_wait(use_tuple);
        if (!ec)
            co_return std::nullopt;
    }
    ++used_;
    co_return ticket(*this);
}

std::optional<admission::ticket> admission::try_enter()
{
    if (used_ >= places_)
        return std::nullopt;
    ++used_;
    return ticket(*this);
}

// Each place that comes free wakes one waiter; a newcomer may take it first, and then that waiter waits
// again.
void admission::leave()
{
    --used_;
    if (waiters_.empty())
        return;
    auto& next = waiters_.front();
    waiters_.pop_front();
    next.timer.cancel();
}

}  // namespace restante
