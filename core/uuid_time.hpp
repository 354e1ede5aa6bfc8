#pragma once

#include "core/clock.hpp"
#include "core/ids.hpp"

namespace restante {

// When an id was made, to the millisecond, by the clock of its maker; nothing for other versions than 7.
std::optional<timestamp> time_of_uuid_v7(const uuid& id) noexcept;

}  // namespace restante
