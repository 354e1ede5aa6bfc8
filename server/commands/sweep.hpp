#pragma once

#include "cli/command_line.hpp"

namespace restante {

// restante sweep: one cycle, beside running servers or without one; prints what was removed.
int run_sweep(const command& asked);

}  // namespace restante
