#pragma once

#include "server/api/common/callback_url.hpp"

namespace restante {

class authenticator;
class bearer_access;
class identity_notices;
class live_event_listener;
class quota_store;
class token_store;
class workspace_directory;
class workspace_store;

// What the handlers of workspaces and their tokens work with.
struct workspaces_services {
    bearer_access& access;
    authenticator& auth;
    const identity_notices& notices;
    workspace_store& workspaces;
    token_store& tokens;
    workspace_directory& directory;
    live_event_listener& live;
    quota_store& quotas;
    callback_rules callbacks;  // where a workspace may be called
};

}  // namespace restante
