#pragma once

#include <cstdint>

namespace restante {

// A part of an open file that can be sent as it is.
struct file_part {
    int descriptor = -1;
    std::uint64_t first = 0;
    std::uint64_t length = 0;
};

}  // namespace restante
