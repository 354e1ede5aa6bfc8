#pragma once

#include "cli/settings.hpp"
#include "storage/quota.hpp"

namespace restante {

inline quota_limits quota_limits_of(const settings& config)
{
    return {.bytes = static_cast<std::int64_t>(config.workspace_max_bytes),
            .files = static_cast<std::int64_t>(config.workspace_max_files)};
}

}  // namespace restante
