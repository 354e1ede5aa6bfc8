#pragma once

#include "test/support/database.hpp"

namespace restante::test {

// Runs the embedded up migrations of the product on an empty database, at most up to a number.
void apply_schema(const scratch_database& db, int up_to = 9999);

}  // namespace restante::test
