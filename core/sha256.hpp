#pragma once

#include <openssl/types.h>

#include <array>
#include <memory>
#include <span>
#include <string_view>

namespace restante {

using digest32 = std::array<unsigned char, 32>;

// SHA-256 of bytes that arrive in pieces. It fails only if OpenSSL runs out of memory, and then throws.
class sha256 {
public:
    sha256();

    void update(std::span<const char> bytes);

    // The digest of everything since the last call; the object is then reset and can be used again.
    digest32 finish();

private:
    struct free_context {
        void operator()(EVP_MD_CTX* context) const noexcept;
    };

    std::unique_ptr<EVP_MD_CTX, free_context> context_;
};

// The digest of a complete buffer. Keeps one context per thread, so that hashing a token costs no allocation.
digest32 sha256_of(std::string_view bytes);

}  // namespace restante
