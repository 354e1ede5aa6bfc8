#pragma once

#include "core/asio.hpp"

#include <cstdint>
#include <span>

namespace restante {

// Writes all bytes at an offset; blocks. 0, or the errno.
int write_all_at(int file, std::uint64_t offset, std::span<const char> bytes);

// The same past the page cache, for bytes that are synced next and not read at once: new pages cost more than
// everything else about a large file. Only whole blocks can go that way, from memory and to an offset that
// are multiples of a block; the rest, and file systems that cannot do it, get an ordinary write. Nobody may
// use the descriptor meanwhile.
constexpr std::size_t direct_block = 4096;
int write_all_direct(int file, std::uint64_t offset, std::span<const char> bytes);

// Reads what fits. Bytes in the page cache are read at once, others on a worker, so that a slow disk does not
// block the shard. How many there were, 0 at the end of the file, or the errno as a negative number.
awaitable<std::int64_t> read_at(int file, std::uint64_t offset, std::span<char> into);

// Whether a part of a file, some pages long, can be read without waiting for the disk. Looks at its last page
// only: pages come in order, and a wrong guess costs a wait.
bool is_cached(int file, std::uint64_t offset, std::size_t length);

}  // namespace restante
