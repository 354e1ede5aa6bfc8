#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace restante {

// The bytes of one file, wherever they are until they are stored.
class file_content {
public:
    virtual ~file_content() = default;

    virtual std::uint64_t size() const = 0;

    // All bytes at once, when they are in memory.
    virtual std::optional<std::span<const char>> in_memory() const = 0;

    // The bytes from offset on, at most as many as fit; never none before the end. They are in `into`, or in
    // place when they are in memory anyway.
    virtual awaitable<result<std::span<const char>>> read(std::uint64_t offset, std::span<char> into) = 0;

    // The file that holds all bytes and has no name yet, when there is one: a store on the same disk gives it
    // a name instead of copying it. -1 otherwise.
    virtual int nameless_file() const { return -1; }
};

}  // namespace restante
