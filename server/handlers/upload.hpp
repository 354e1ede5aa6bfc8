#pragma once

#include "server/handler.hpp"

namespace restante {

// POST /workspaces/{id}/chat/uploads: stages every file of the form, or none of them.
handler_function handle_upload;

}  // namespace restante
