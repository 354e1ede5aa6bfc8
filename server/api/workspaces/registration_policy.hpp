#pragma once

#include "cli/settings.hpp"
#include "server/api/common/tokenless.hpp"

namespace restante {

// Whether anybody may register a new workspace: as --registration says, and if it says nothing, under --dev
// or while every listener is on loopback. Resolves host names, so it belongs to the start of the server.
bool registration_is_open(const settings& config);

// Whom it is open to. Where no one has said `open`, a proxy before this server makes it reachable from
// outside all the same, so what a proxy has forwarded needs the admin token.
open_registration registration_door(const settings& config);

// One warning line when strangers can register (open, and reachable from outside), and one when nobody can
// but by the command line (closed, and no admin token).
void warn_about_registration(const settings& config);

}  // namespace restante
