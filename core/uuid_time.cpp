#include "core/uuid_time.hpp"

namespace restante {

std::optional<timestamp> time_of_uuid_v7(const uuid& id) noexcept
{
    if (id.data[6] >> 4 != 7)
        return std::nullopt;
    std::int64_t millis = 0;
    for (int i = 0; i < 6; ++i)
        millis = millis << 8 | id.data[i];
    return timestamp(std::chrono::milliseconds(millis));
}

}  // namespace restante
