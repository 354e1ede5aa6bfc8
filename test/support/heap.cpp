#include "test/support/heap.hpp"

#include <malloc.h>

// Exists only in a build with a sanitizer that replaces malloc.
extern "C" __attribute__((weak)) std::size_t __sanitizer_get_current_allocated_bytes();

namespace restante::test {

std::size_t live_heap_bytes()
{
    if (__sanitizer_get_current_allocated_bytes)
        return __sanitizer_get_current_allocated_bytes();
    const auto info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

}  // namespace restante::test
