#pragma once

#include "auth/principal.hpp"
#include "http/session/request_context.hpp"
#include "storage/token_use.hpp"
#include "storage/workspaces.hpp"

namespace restante {

// The principal that bearer_access found for this request; nobody on an open route.
inline const principal& caller_of(const request_context& req)
{
    static const principal nobody;
    const auto* caller = req.caller().as<principal>();
    return caller ? *caller : nobody;
}

// How far it is known to act for this workspace.
inline caller proof_of(const principal& who, const uuid& workspace)
{
    if (!who.speaks_for(workspace))
        return caller::unproven;
    return who.opens_every_workspace() ? caller::proven : caller::with_token;
}

inline std::optional<uuid> token_id_of(const principal& caller)
{
    if (caller.kind != principal_kind::workspace)
        return std::nullopt;
    return caller.token;
}

// The token it presented, which the writing transaction checks again.
inline std::optional<used_token> token_of(const principal& caller)
{
    if (caller.kind != principal_kind::workspace)
        return std::nullopt;
    return used_token(caller.token, caller.ends, caller.scope == token_scope::grant);
}

}  // namespace restante
