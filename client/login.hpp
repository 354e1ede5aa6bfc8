#pragma once

#include "client/settings.hpp"

namespace restante::client {

// `restante login`.
exit_code run_login(const settings& config, const environment& env);

}  // namespace restante::client
