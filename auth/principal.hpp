#pragma once

#include "core/ids.hpp"
#include "core/sha256.hpp"
#include "storage/grant_terms.hpp"
#include "storage/token_scope.hpp"
#include "storage/workspace_facts.hpp"

#include <memory>
#include <optional>

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
    token_scope scope = token_scope::full;          // of the token that was presented
    uuid token{};                                   // for later revocations, and for what is staged with it
    digest32 token_hash{};                          // used by authenticator::still_valid()
    workspace_facts workspace{};                    // the owner of the token
    bool ends = false;                              // the token does, at a time of its own
    std::shared_ptr<const grant_terms> grant = {};  // of an upload grant only

    bool opens_every_workspace() const
    {
        return kind == principal_kind::admin || kind == principal_kind::dev;
    }
    bool speaks_for(const uuid& id) const
    {
        return opens_every_workspace() || (kind == principal_kind::workspace && workspace.id == id);
    }

    // A sender learns of the workspace's files only what became of those that it staged.
    bool sees_own_files_only() const
    {
        return kind == principal_kind::workspace &&
               (scope == token_scope::upload || scope == token_scope::grant);
    }
    // Whether it may learn of a file that this token has staged; nullopt for what is not about one file, such
    // as the feed.
    bool may_learn_of(const std::optional<uuid>& staged_by) const
    {
        return !sees_own_files_only() || staged_by == token;
    }
};

// Whether what it does shows that the agent of this workspace lives: the admin and holders of narrower tokens
// may look in at any time.
inline bool acts_as_agent(const principal& who, const uuid& workspace)
{
    return who.kind == principal_kind::workspace && who.workspace.id == workspace &&
           who.scope == token_scope::full;
}

}  // namespace restante
