#pragma once

#include "server/app/reloader.hpp"

namespace restante {

// Runs the server until it is asked to stop; returns the exit code of the process. A failure to start is
// reported in one line on stderr. SIGHUP takes the settings from `read_again`.
int run_serve(const settings& config, const settings_reader& read_again);

}  // namespace restante
