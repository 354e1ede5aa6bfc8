#pragma once

#include "cli/settings.hpp"

namespace restante {

// Runs the server until it is asked to stop; returns the exit code of the process. A failure to start is
// reported in one line on stderr.
int run_serve(const settings& config);

}  // namespace restante
