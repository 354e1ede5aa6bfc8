#pragma once

#include "core/sha256.hpp"
#include "storage/tokens.hpp"

#include <string>
#include <string_view>

namespace restante {

// A token as it leaves us once, and what is kept of it.
struct made_token {
    std::string secret;  // for its owner alone: never logged, never stored
    new_token kept;
};

// 32 bytes from OpenSSL in base64url: 43 characters. Throws when OpenSSL has no random bytes to give.
made_token make_token();

digest32 hash_token(std::string_view secret);

// Whether two tokens are equal, in a time that tells nothing about where they differ.
bool same_token(const digest32& a, const digest32& b) noexcept;

}  // namespace restante
