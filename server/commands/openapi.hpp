#pragma once

namespace restante {

// `restante openapi`: prints the document of a server with default settings. Returns the exit code.
int run_openapi();

}  // namespace restante
