#include "core/memory_return.hpp"

#include "core/worker_pool.hpp"

#include <malloc.h>

namespace restante {

namespace {

// Rare enough that refaulting pages which are soon needed again has no measurable cost.
constexpr auto interval = std::chrono::seconds(15);

}  // namespace

awaitable<void> run_memory_return(task_group& tasks)
{
    while (!co_await tasks.stopped_within(interval)) {
        // malloc_trim walks the whole free list, which is too slow for a shard's thread.
        const auto trim = [] { return malloc_trim(0); };
        co_await shared_workers().run(trim);
    }
}

}  // namespace restante
