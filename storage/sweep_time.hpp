#pragma once

#include "core/task_group.hpp"

namespace restante {

// How long a sweep job may run, and how fast. It is asked after each batch: the time may be over or the
// server stopping; otherwise it pauses twice as long as the batch took, so that a backlog never takes more
// than a third of what one connection can do, and uploads continue beside it.
class sweep_time {
public:
    using clock = std::chrono::steady_clock;

    sweep_time(task_group& tasks, clock::duration limit) : tasks_(tasks), end_(clock::now() + limit) {}

    // False when no further batch may begin.
    awaitable<bool> rest_after(clock::time_point batch_began)
    {
        const auto now = clock::now();
        if (now >= end_)
            co_return false;
        const bool stopped = co_await tasks_.stopped_within(2 * (now - batch_began));
        co_return !stopped && clock::now() < end_;
    }

private:
    task_group& tasks_;
    clock::time_point end_;
};

}  // namespace restante
