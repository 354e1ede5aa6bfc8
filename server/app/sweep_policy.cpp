#include "server/app/sweep_policy.hpp"

#include <algorithm>

namespace restante {

retention_policy policy_from(const settings& config)
{
    using std::chrono::microseconds;
    return {.acked = std::max(config.ack_retention, microseconds(0)),
            .activity = std::max(config.activity_retention, microseconds(0)),
            .interval = config.sweep_interval};
}

}  // namespace restante
