#pragma once

#include <string_view>

namespace restante {

enum class bearer_kind {
    none,       // no Authorization, another scheme, or `Bearer` without a value
    malformed,  // Bearer, but the value can't be a token
    token,
};

struct bearer {
    bearer_kind kind = bearer_kind::none;
    std::string_view token;  // points into the parsed value
};

// Parses the value of an Authorization field (empty: there is none): the scheme in upper or lower case, one
// or more spaces, then 1 to 512 visible ASCII characters.
bearer parse_bearer(std::string_view authorization) noexcept;

// Whether a token has the format of a workspace token: 32 bytes in base64url without padding, 43 characters.
// Any other needs no lookup.
bool looks_like_workspace_token(std::string_view token) noexcept;

}  // namespace restante
