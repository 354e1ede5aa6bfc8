#pragma once

#include "cli/command_line.hpp"

namespace restante {

// restante migrate [--to N] [--dry-run] [--yes-lose-files]: brings the schema to a version and says what it
// did. Going back deletes rows only if --yes-lose-files is given.
int run_migrate(const command& asked);

}  // namespace restante
