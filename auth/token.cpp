#include "auth/token.hpp"

#include "core/encoding.hpp"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <array>
#include <stdexcept>

namespace restante {

namespace {

constexpr std::size_t random_bytes = 32;
constexpr std::size_t prefix_length = 8;

}  // namespace

std::string make_secret()
{
    std::array<unsigned char, random_bytes> bytes;
    if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1)
        throw std::runtime_error("OpenSSL has no random bytes for a secret");
    auto secret = to_base64url(bytes);
    OPENSSL_cleanse(bytes.data(), bytes.size());
    return secret;
}

made_token make_token()
{
    made_token made{.secret = make_secret(), .kept = {}};
    made.kept.hash = hash_token(made.secret);
    made.kept.prefix = made.secret.substr(0, prefix_length);
    return made;
}

digest32 hash_token(std::string_view secret)
{
    return sha256_of(secret);
}

bool same_token(const digest32& a, const digest32& b) noexcept
{
    return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace restante
