#pragma once

#include "cli/settings.hpp"
#include "server/api/common/tokenless.hpp"
#include "storage/quota.hpp"

namespace restante {

// What a shard takes over while it runs, besides the certificate.
struct live_settings {
    std::string admin_token;
    std::vector<std::string> allowed_origins;
    quota_limits quotas;
    tokenless_policy without_token;
};

// Resolves host names, so it is not for a shard.
live_settings live_settings_of(const settings& config);

}  // namespace restante
