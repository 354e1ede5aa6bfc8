#pragma once

#include <sys/types.h>

namespace restante::client {

// Whether a process of this group still runs; one that has ended and was not waited for does not.
// kill(-group, 0) succeeds for those too. False where there is no /proc.
bool has_running_process(pid_t group);

}  // namespace restante::client
