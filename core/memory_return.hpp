#pragma once

#include "core/task_group.hpp"

namespace restante {

// Periodically returns free allocator pages to the system. Freed buffers of up to some MiB stay in the
// allocator's heaps, which makes the next ones cheap; with fragmentation, resident memory would seem to grow
// for hours.
awaitable<void> run_memory_return(task_group& tasks);

}  // namespace restante
