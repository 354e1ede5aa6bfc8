#pragma once

#include "http/routing/handler.hpp"

namespace restante {

handler_function handle_healthz;
handler_function handle_readyz;
handler_function handle_version;
handler_function handle_metrics;

}  // namespace restante
