#include "core/wakeup.hpp"

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

namespace restante {

awaitable<bool> wakeup::wait_until(time_point moment)
{
    waiter self(executor_);
    waiters_.push_back(self);
    self.timer.expires_at(moment);
    const auto [ec] = co_await self.timer.async_wait(use_tuple);
    if (self.notified)
        co_return true;
    if (ec)
        throw boost::system::system_error(ec);
    co_return false;
}

void wakeup::notify_all()
{
    while (!waiters_.empty()) {
        waiter& next = waiters_.front();
        waiters_.pop_front();
        next.notified = true;
        next.timer.cancel();
    }
}

}  // namespace restante
