#pragma once

#include "http/routing/handler.hpp"

namespace restante {

// POST /registry/register: a workspace introduces itself, or tells what has changed.
handler_function handle_register;

}  // namespace restante
