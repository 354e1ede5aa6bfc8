#pragma once

#include "client/settings.hpp"

namespace restante::client {

// `restante send`.
exit_code run_send(const settings& config, const std::vector<std::string>& files);

}  // namespace restante::client
