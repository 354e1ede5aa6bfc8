#include "server/app/callback_policy.hpp"

#include <algorithm>

namespace restante {

address_policy callback_policy_of(const settings& config)
{
    const auto says = [&config](callback_net net) {
        return std::find(config.push_allow.begin(), config.push_allow.end(), net) != config.push_allow.end();
    };
    return {.loopback = config.dev || says(callback_net::loopback), .private_ = says(callback_net::private_)};
}

}  // namespace restante
