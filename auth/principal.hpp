#pragma once

#include "core/ids.hpp"
#include "core/sha256.hpp"
#include "storage/workspace_facts.hpp"

namespace restante {

// On whose behalf a request acts.
struct principal {
    enum class kind {
        nobody,     // an open route, or not identified
        workspace,  // a token of this workspace
        admin,
        dev,  // no bearer, from loopback, under --dev
    };
    kind who = kind::nobody;
    uuid token{};                 // the token that was presented, for later revocations
    digest32 token_hash{};        // used by authenticator::still_valid()
    workspace_facts workspace{};  // the owner of the token

    bool opens_every_workspace() const { return who == kind::admin || who == kind::dev; }
    bool speaks_for(const uuid& id) const
    {
        return opens_every_workspace() || (who == kind::workspace && workspace.id == id);
    }
};

}  // namespace restante
