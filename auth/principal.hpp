#pragma once

#include "core/ids.hpp"
#include "core/sha256.hpp"
#include "storage/workspace_facts.hpp"

namespace restante {

enum class principal_kind {
    nobody,     // an open route, or nobody asked
    workspace,  // a token of this workspace
    admin,
    dev,  // no bearer, from loopback, under --dev
};

// Who a request speaks for.
struct principal {
    principal_kind kind = principal_kind::nobody;
    uuid token{};                 // the token that opened the door, for revocations that arrive later
    digest32 token_hash{};        // what authenticator::still_valid() asks for
    workspace_facts workspace{};  // whose token it is

    bool opens_every_workspace() const { return kind == principal_kind::admin || kind == principal_kind::dev; }
    bool speaks_for(const uuid& id) const
    {
        return opens_every_workspace() || (kind == principal_kind::workspace && workspace.id == id);
    }
};

}  // namespace restante
