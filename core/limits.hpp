#pragma once

#include <cstdint>

namespace restante {

// The largest file whose bytes are in its row. The CHECK on pending_uploads.size_bytes says the same, so a setting
// above it would accept files that no row can hold.
inline constexpr std::uint64_t largest_file = 26'214'400;

// The same for files whose bytes are outside of the database: what one PUT of S3 takes.
inline constexpr std::uint64_t largest_stored_file = 5ull << 30;

}  // namespace restante
