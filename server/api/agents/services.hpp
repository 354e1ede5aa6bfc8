#pragma once

#include "cli/settings.hpp"
#include "server/api/agents/stranger_queue.hpp"
#include "server/api/common/callback_url.hpp"

#include <string>

namespace restante {

class authenticator;
class bearer_access;
class identity_notices;
class presence_notes;
class standing_tokens;
class workspace_directory;
class workspace_store;

// What the handlers of agents and of the list of workspaces work with.
struct agents_services {
    bearer_access& access;
    authenticator& auth;
    standing_tokens& standing;
    const identity_notices& notices;
    presence_notes& presence;
    workspace_store& workspaces;
    workspace_directory& directory;
    peer_policy peers;
    callback_rules callbacks;  // where a workspace may be called
    std::string public_url;    // where clients reach this server; empty: as the request says
    stranger_queue strangers;  // requests without a token that want to know of a workspace
};

}  // namespace restante
