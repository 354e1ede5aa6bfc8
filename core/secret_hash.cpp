#include "core/secret_hash.hpp"

#include "core/ids.hpp"

namespace restante {

std::uint64_t hash_secret() noexcept
{
    static const auto secret = make_random_bits();
    return secret;
}

}  // namespace restante
