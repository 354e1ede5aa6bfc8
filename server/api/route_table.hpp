#pragma once

#include "http/routing/routes.hpp"

#include <span>

namespace restante {

// The whole API, and the operator's listener beside it.
std::span<const route> public_routes();
std::span<const route> metrics_routes();

}  // namespace restante
