#pragma once

#include "cli/command_line.hpp"

namespace restante {

// `restante grant create|list|revoke`; returns the exit code.
int run_grant(const command& asked);

}  // namespace restante
