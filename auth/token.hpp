#pragma once

#include "core/sha256.hpp"
#include "storage/tokens.hpp"

#include <string>
#include <string_view>

namespace restante {

// A new token: the secret that is returned once, and what we store of it.
struct made_token {
    std::string secret;  // for the client only: never logged, never stored
    new_token kept;
};

// 32 bytes from OpenSSL in base64url: 43 characters. Both throw if OpenSSL cannot provide random bytes.
std::string make_secret();
made_token make_token();

digest32 hash_token(std::string_view secret);

// Compares two tokens in constant time.
bool same_token(const digest32& a, const digest32& b) noexcept;

}  // namespace restante
