#pragma once

#include "cli/settings.hpp"

namespace restante {

// Runs the server until it is told to stop; returns the exit code of the process. What prevents a start is
// told in one line on stderr.
int run_serve(const settings& config);

}  // namespace restante
