#include "core/deadline.hpp"

namespace restante {

struct deadline::state : std::enable_shared_from_this<state> {
    state(executor ex, std::function<void()> callback) : timer(ex), on_expiry(std::move(callback)) {}

    void sleep_until(clock::time_point when)
    {
        wakes_at = when;
        timer.expires_at(when);
        timer.async_wait([self = shared_from_this()](boost::system::error_code ec) {
            if (!ec)
                self->wake();
        });
    }

    void wake()
    {
        wakes_at = clock::time_point::max();
        if (!on_expiry || due == clock::time_point::max())
            return;
        if (due > clock::now())
            return sleep_until(due);
        if (!had_second_chance && stood_still_since(due)) {
            had_second_chance = true;
            due = clock::now() + second_chance;
            return sleep_until(due);
        }
        due = clock::time_point::max();
        expired = true;
        const auto callback = on_expiry;  // the callback may destroy this deadline
        callback();
    }

    steady_timer timer;
    std::function<void()> on_expiry;
    clock::time_point due = clock::time_point::max();
    clock::time_point wakes_at = clock::time_point::max();
    bool had_second_chance = false;
    bool expired = false;
};

deadline::deadline(executor ex, std::function<void()> on_expiry)
    : state_(std::make_shared<state>(ex, std::move(on_expiry)))
{
}

deadline::~deadline()
{
    state_->on_expiry = nullptr;
    state_->timer.cancel();
}

void deadline::expires_at(clock::time_point when)
{
    state_->due = when;
    state_->had_second_chance = false;
    state_->expired = false;
    if (when < state_->wakes_at)
        state_->sleep_until(when);
}

void deadline::clear()
{
    state_->due = clock::time_point::max();
    state_->expired = false;
}

bool deadline::expired() const
{
    return state_->expired;
}

}  // namespace restante
