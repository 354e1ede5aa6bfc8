#pragma once

#include <chrono>
#include <cstdint>

namespace restante {

// A peer may be slow, but it must move this many bytes in every window, in either direction: 1 KiB/s.
inline constexpr auto progress_window = std::chrono::seconds(10);
inline constexpr std::uint64_t progress_bytes = 10 * 1024;

}  // namespace restante
