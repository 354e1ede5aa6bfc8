#pragma once

#include "core/asio.hpp"
#include "core/ids.hpp"
#include "http/message/public_errors.hpp"

namespace restante {

class workspace_directory;
struct workspace_profile;

// The 410 that tells an agent to be set up anew: `id`, `removed_at` and a `hint`.
refusal removed_refusal(const workspace_profile& removed);

// The same for one whose profile has not been read yet.
awaitable<refusal> find_removed_refusal(workspace_directory& directory, uuid workspace);

}  // namespace restante
