#pragma once

#include <cstdint>

namespace restante {

// The largest file that one row can hold. The CHECK on pending_uploads.size_bytes says the same, so a setting
// above it would accept files that no row can hold.
inline constexpr std::uint64_t largest_file = 26'214'400;

}  // namespace restante
