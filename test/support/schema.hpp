#pragma once

#include "test/support/database.hpp"

namespace restante::test {

// Runs the product's embedded up migrations on an empty database, up to a number at most.
void apply_schema(const scratch_database& db, int up_to = 9999);

}  // namespace restante::test
