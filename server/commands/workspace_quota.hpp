#pragma once

#include "cli/command_line.hpp"

namespace restante {

// restante workspace quota ID [--bytes N] [--files N]: changes what is given, then shows what is.
int run_workspace_quota(const command& asked);

}  // namespace restante
