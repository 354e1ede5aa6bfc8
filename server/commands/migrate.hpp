#pragma once

#include "cli/command_line.hpp"

namespace restante {

// restante migrate [--to N] [--dry-run]: brings the schema to a version and says what it did.
int run_migrate(const command& asked);

}  // namespace restante
