#pragma once

#include "server/spool/block_cache.hpp"

#include <new>

namespace restante {

// For bytes that may be written past the page cache. Small buffers, of which there are many, are not aligned:
// that costs time, and their files stay in the database.
struct block_allocator {
    using value_type = char;
    template <class>
    struct rebind {
        using other = block_allocator;  // bytes and nothing else
    };

    char* allocate(std::size_t n)
    {
        if (n < block_cache::smallest)
            return static_cast<char*>(::operator new(n));
        return block_cache::of_process().take(n);
    }

    void deallocate(char* block, std::size_t n) noexcept
    {
        if (n < block_cache::smallest)
            ::operator delete(block);
        else
            block_cache::of_process().give_back(block, n);
    }

    bool operator==(const block_allocator&) const = default;
};

}  // namespace restante
