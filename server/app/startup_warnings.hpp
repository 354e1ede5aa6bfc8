#pragma once

#include "cli/settings.hpp"

namespace restante {

// A warning line for each setting that works and is still a risk: who may register, who can read the admin
// token. At start, and after a reload.
void warn_about_access(const settings& config);

// The same for limits that do not fit together. At start.
void warn_about_limits(const settings& config);

}  // namespace restante
