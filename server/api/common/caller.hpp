#pragma once

#include "auth/principal.hpp"
#include "http/session/request_context.hpp"

namespace restante {

// The principal that bearer_access found for this request; nobody on an open route.
inline const principal& caller_of(const request_context& req)
{
    static const principal nobody;
    const auto* caller = req.caller().as<principal>();
    return caller ? *caller : nobody;
}

// The token it presented, which the writing transaction checks again.
inline std::optional<uuid> token_of(const principal& caller)
{
    return caller.kind == principal_kind::workspace ? std::optional(caller.token) : std::nullopt;
}

}  // namespace restante
