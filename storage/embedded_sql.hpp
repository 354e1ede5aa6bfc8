#pragma once

#include <span>
#include <string_view>

namespace restante {

struct embedded_file {
    std::string_view name;
    std::string_view text;
};

// The files of sql/ as they were when the binary was built, in name order.
std::span<const embedded_file> embedded_sql();

}  // namespace restante
