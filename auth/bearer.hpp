#pragma once

#include <string_view>

namespace restante {

enum class bearer_kind {
    none,       // no Authorization, another scheme, or `Bearer` with nothing behind it
    malformed,  // says Bearer, but what follows can't be a token
    token,
};

struct bearer {
    bearer_kind kind = bearer_kind::none;
    std::string_view token;  // a part of the value that was parsed
};

// Reads the value of an Authorization field (empty: there is none): the scheme in any letter case, one or
// more spaces, then 1 to 512 visible ASCII characters.
bearer parse_bearer(std::string_view authorization) noexcept;

// Whether a token can be a workspace's: 32 bytes in base64url without padding, 43 characters. What is not
// need not be looked up.
bool looks_like_workspace_token(std::string_view token) noexcept;

}  // namespace restante
