#pragma once

#include "cli/command_line.hpp"

namespace restante {

// restante workspace add [ID] | list | remove ID. The first token of an added workspace is the only output on
// stdout, so that it can be piped; the rest is on stderr. With --json stdout has one JSON value.
int run_workspace(const command& asked);

}  // namespace restante
