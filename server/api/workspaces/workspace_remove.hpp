#pragma once

#include "http/routing/handler.hpp"

namespace restante {

// DELETE /workspaces/{id}?confirm=true: shuts a workspace for good. Its staged files stay until they expire.
handler_function handle_workspace_remove;

}  // namespace restante
