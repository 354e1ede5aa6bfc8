#pragma once

#include "core/task_group.hpp"

namespace restante {

// Every now and then gives pages back that the allocator holds and nobody uses. Freed buffers of up to some
// MiB stay in its heaps, which is what makes the next ones cheap; scattered there, they would let a process
// seem to grow for hours.
awaitable<void> run_memory_return(task_group& tasks);

}  // namespace restante
