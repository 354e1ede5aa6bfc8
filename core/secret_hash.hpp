#pragma once

#include <boost/container_hash/hash.hpp>

#include <cstdint>
#include <cstring>

namespace restante {

// Different in every process.
std::uint64_t hash_secret() noexcept;

// The hash of ids, digests and addresses in tables. Strangers choose many of them, and nobody should be able
// to choose them so that they collide.
struct secret_hash {
    template <class Bytes>
    std::size_t operator()(const Bytes& key) const noexcept
    {
        static_assert(sizeof(Bytes) % sizeof(std::uint64_t) == 0 && sizeof(*key.begin()) == 1);
        std::size_t hash = hash_secret();
        for (std::size_t at = 0; at < sizeof(Bytes); at += sizeof(std::uint64_t)) {
            std::uint64_t word;
            std::memcpy(&word, &*key.begin() + at, sizeof word);
            boost::hash_combine(hash, word);
        }
        return hash;
    }
};

}  // namespace restante
