#pragma once

#include "cli/command_line.hpp"

namespace restante {

// restante token issue WORKSPACE | list WORKSPACE | revoke WORKSPACE TOKEN_ID. A token is printed once,
// alone, to stdout, so that it can be piped. Running servers apply a revocation within 5 s.
int run_token(const command& asked);

}  // namespace restante
