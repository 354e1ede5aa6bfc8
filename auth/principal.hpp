#pragma once

#include "core/ids.hpp"
#include "core/sha256.hpp"
#include "storage/workspace_facts.hpp"

namespace restante {

// Who a request speaks for.
struct principal {
    enum class kind {
        nobody,     // an open route, or nobody asked
        workspace,  // a token of this workspace
        admin,
        dev,  // no bearer, from loopback, under --dev
    };
    kind who = kind::nobody;
    uuid token{};                 // the token that opened the door, for revocations that arrive later
    digest32 token_hash{};        // what authenticator::still_valid() asks for
    workspace_facts workspace{};  // whose token it is

    bool opens_every_workspace() const { return who == kind::admin || who == kind::dev; }
    bool speaks_for(const uuid& id) const
    {
        return opens_every_workspace() || (who == kind::workspace && workspace.id == id);
    }
};

}  // namespace restante
