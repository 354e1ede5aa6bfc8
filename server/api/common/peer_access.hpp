#pragma once

#include "auth/principal.hpp"
#include "core/error.hpp"

#include <optional>
#include <string_view>

namespace restante {

// Whether workspaces may address each other: --peers.
enum class peer_talk { refused, allowed };

// X-Workspace-ID, by which a caller says as whom it speaks; empty when it says nothing. It must be the owner
// of the token, and none of the names under which the platform itself speaks (webhook:, system:, test:,
// channel:). The admin and --dev act for a person, whatever they claim. Errors: forbidden (a reserved name),
// invalid_token (not the token's owner).
result<void> check_claimed_workspace(const principal& who, std::string_view claimed);

// The workspace that speaks, where it is not the target itself; nothing for the canvas, which uses the
// target's own token or the admin's.
std::optional<uuid> speaking_peer(const principal& who, const uuid& target);

}  // namespace restante
