#pragma once

#include "cli/settings.hpp"
#include "sweeper/retention.hpp"

namespace restante {

// The settings as the sweeper takes them. An ack retention of 0 has become the default when the settings were
// read; here nothing is negative any more.
retention_policy policy_from(const settings& config);

}  // namespace restante
