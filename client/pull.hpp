#pragma once

#include "client/settings.hpp"

namespace restante::client {

// `restante pull`.
exit_code run_pull(const settings& config, const environment& env);

}  // namespace restante::client
