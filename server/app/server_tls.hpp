#pragma once

#include "cli/settings.hpp"
#include "core/startup_failure.hpp"
#include "http/net/tls_context.hpp"

namespace restante {

// The certificate that the settings name; without one, the self-signed one of the data directory, made if
// need be.
startup_result<tls_context> load_server_tls(const settings& config);

}  // namespace restante
