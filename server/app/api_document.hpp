#pragma once

#include "cli/settings.hpp"
#include "server/api/route_table.hpp"

#include <string>

namespace restante {

body_limits body_limits_of(const settings& config);

// What GET /openapi.json answers on a server with these settings.
std::string make_api_document(const settings& config);

}  // namespace restante
