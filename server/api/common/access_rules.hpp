#pragma once

#include "auth/principal.hpp"
#include "http/routing/routes.hpp"
#include "server/api/common/peer_access.hpp"

namespace restante {

enum class access {
    granted,
    wrong_token,         // answered like a token that does not exist: 401
    insufficient_scope,  // the right workspace, but not this route: 403
    peer_not_allowed,    // another workspace's token where that could be right, and is not here: 403
};

// Whether the holder of a token may use a route that asks for `needed` and names this workspace in its path.
// The one place that decides it; the table in docs/api.md shows the outcome for every route. Where workspaces
// talk to each other, the full token of one may send messages to the others.
access decide_access(scope needed, const principal& who, const uuid& workspace,
                     peer_talk peers = peer_talk::refused);

}  // namespace restante
