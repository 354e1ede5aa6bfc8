#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace restante {

// How much may wait for one workspace: files that are neither acked nor expired. 0 is no limit.
struct quota_limits {
    std::int64_t bytes = 0;
    std::int64_t files = 0;
};

// What a workspace has been given instead; what is absent is as everywhere.
struct quota_override {
    std::optional<std::int64_t> bytes = {};
    std::optional<std::int64_t> files = {};
};

struct quota_use {
    std::int64_t bytes = 0;
    std::int64_t files = 0;
};

struct workspace_quota {
    quota_use used = {};
    quota_limits limits = {};  // in force
    quota_override own = {};
};

// Which of the limits does not allow so much more; nothing when both do.
enum class quota_kind { bytes, files };
inline std::optional<quota_kind> find_excess(const workspace_quota& now, const quota_use& more)
{
    const auto exceeds = [](std::int64_t limit, std::int64_t used, std::int64_t added) {
        return limit > 0 && added > limit - std::min(used, limit);
    };
    if (exceeds(now.limits.bytes, now.used.bytes, more.bytes))
        return quota_kind::bytes;
    if (exceeds(now.limits.files, now.used.files, more.files))
        return quota_kind::files;
    return std::nullopt;
}

// The share of the fuller limit that is used; 0 without limits.
inline double share_used(const workspace_quota& now)
{
    const auto share = [](std::int64_t limit, std::int64_t used) {
        return limit > 0 ? static_cast<double>(used) / static_cast<double>(limit) : 0.0;
    };
    return std::max(share(now.limits.bytes, now.used.bytes), share(now.limits.files, now.used.files));
}

}  // namespace restante
