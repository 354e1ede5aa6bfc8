#pragma once

#include "core/ids.hpp"

#include <vector>

namespace restante {

// Holds something open for agents: a parked poll, a socket. As long as it is open, its agent lives.
class presence_source {
public:
    virtual ~presence_source() = default;
    virtual void add_present(std::vector<uuid>& to) const = 0;
};

}  // namespace restante
