#include "core/memory_return.hpp"

#include "core/worker_pool.hpp"

#include <malloc.h>

namespace restante {

namespace {

// Seldom enough that pages which are needed again soon cost nothing that could be measured.
constexpr auto interval = std::chrono::seconds(15);

}  // namespace

awaitable<void> run_memory_return(task_group& tasks)
{
    while (!co_await tasks.stopped_within(interval)) {
        // It walks through all that is free: nothing for a thread that serves.
        const auto trim = [] { return malloc_trim(0); };
        co_await shared_workers().run(trim);
    }
}

}  // namespace restante
