#pragma once

#include "core/file_io.hpp"

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
    static constexpr std::size_t aligned_from = 128 * 1024;

    char* allocate(std::size_t n)
    {
        return static_cast<char*>(n < aligned_from ? ::operator new(n)
                                                   : ::operator new(n, std::align_val_t(direct_block)));
    }

    void deallocate(char* block, std::size_t n) noexcept
    {
        if (n < aligned_from)
            ::operator delete(block);
        else
            ::operator delete(block, std::align_val_t(direct_block));
    }

    bool operator==(const block_allocator&) const = default;
};

}  // namespace restante
