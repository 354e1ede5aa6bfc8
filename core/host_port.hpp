#pragma once

#include <cstdint>
#include <string>

namespace restante {

// An address to listen on, as the settings name it: the host may still be a name.
struct host_port {
    std::string host;
    std::uint16_t port = 0;
    bool operator==(const host_port&) const = default;
};

}  // namespace restante
