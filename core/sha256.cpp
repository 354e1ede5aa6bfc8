#include "core/sha256.hpp"

#include <openssl/evp.h>

#include <stdexcept>

namespace restante {

namespace {

void require(bool done)
{
    if (!done)
        throw std::runtime_error("SHA-256 failed in OpenSSL");
}

// Fetching an algorithm takes locks inside OpenSSL; one fetch serves the whole process.
const EVP_MD* algorithm()
{
    static const std::unique_ptr<EVP_MD, decltype(&EVP_MD_free)> fetched(
        EVP_MD_fetch(nullptr, "SHA256", nullptr), &EVP_MD_free);
    require(fetched != nullptr);
    return fetched.get();
}

}  // namespace

void sha256::free_context::operator()(EVP_MD_CTX* context) const noexcept
{
    EVP_MD_CTX_free(context);
}

sha256::sha256() : context_(EVP_MD_CTX_new())
{
    require(context_ && EVP_DigestInit_ex2(context_.get(), algorithm(), nullptr) == 1);
}

void sha256::update(std::span<const char> bytes)
{
    require(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
}

digest32 sha256::finish()
{
    digest32 digest;
    require(EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) == 1);
    // A null algorithm lets the context keep its memory.
    require(EVP_DigestInit_ex2(context_.get(), nullptr, nullptr) == 1);
    return digest;
}

digest32 sha256_of(std::string_view bytes)
{
    thread_local sha256 hash;
    hash.update(bytes);
    return hash.finish();
}

}  // namespace restante
