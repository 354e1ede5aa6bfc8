#pragma once

#include <cstddef>

namespace restante::test {

// Currently allocated bytes, without freed ones that a sanitizer keeps in quarantine.
std::size_t live_heap_bytes();

}  // namespace restante::test
