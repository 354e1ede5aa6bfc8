#pragma once

#include "cli/command_line.hpp"

namespace restante {

// restante status [--json] [--watch]: what waits, for whom and since when; with --watch every two seconds
// until interrupted.
int run_status(const command& asked);

}  // namespace restante
