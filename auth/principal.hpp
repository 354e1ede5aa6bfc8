#pragma once

#include "core/ids.hpp"
#include "core/sha256.hpp"
#include "storage/workspace_facts.hpp"

namespace restante {

enum class principal_kind {
    nobody,     // an open route, or not identified
    workspace,  // a token of this workspace
    admin,
    dev,  // no bearer, from loopback, under --dev
};

// On whose behalf a request acts.
struct principal {
    principal_kind kind = principal_kind::nobody;
    uuid token{};                 // the token that was presented, for later revocations
    digest32 token_hash{};        // used by authenticator::still_valid()
    workspace_facts workspace{};  // the owner of the token

    bool opens_every_workspace() const
    {
        return kind == principal_kind::admin || kind == principal_kind::dev;
    }
    bool speaks_for(const uuid& id) const
    {
        return opens_every_workspace() || (kind == principal_kind::workspace && workspace.id == id);
    }
};

}  // namespace restante
