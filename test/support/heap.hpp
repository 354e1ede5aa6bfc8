#pragma once

#include <cstddef>

namespace restante::test {

// Bytes that are allocated now; freed ones that a sanitizer keeps in quarantine do not count.
std::size_t live_heap_bytes();

}  // namespace restante::test
