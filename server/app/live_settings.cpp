#include "server/app/live_settings.hpp"

#include "server/api/workspaces/registration_policy.hpp"
#include "server/app/quota_limits.hpp"

namespace restante {

live_settings live_settings_of(const settings& config)
{
    return {.admin_token = config.admin_token,
            .allowed_origins = config.allowed_origins,
            .quotas = quota_limits_of(config),
            .without_token = {config.dev, registration_door(config)}};
}

}  // namespace restante
