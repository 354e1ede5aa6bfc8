#include "server/presence/event_pace.hpp"

namespace restante {

awaitable<void> event_pace::reported()
{
    if (++since_pause_ < slice || hurries_)
        co_return;
    since_pause_ = 0;
    steady_timer timer(co_await asio::this_coro::executor, pause);
    co_await timer.async_wait(use_await);
}

}  // namespace restante
