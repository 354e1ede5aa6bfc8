#pragma once

#include "http/client/address_policy.hpp"

namespace restante {

class authenticator;
class bearer_access;
class identity_notices;
class token_store;
class workspace_store;

// What the handlers of workspaces and their tokens work with.
struct workspaces_services {
    bearer_access& access;
    authenticator& auth;
    const identity_notices& notices;
    workspace_store& workspaces;
    token_store& tokens;
    address_policy callbacks;  // where a workspace may be called
};

}  // namespace restante
