#pragma once

#include "cli/command_line.hpp"

namespace restante {

// Each gives an exit code.
int run_content_check(const command& asked);
int run_content_move(const command& asked);

}  // namespace restante
