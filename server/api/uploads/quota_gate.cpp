#include "server/api/uploads/quota_gate.hpp"

namespace restante {

namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

// What is left of the limits divided by `part`; below zero when more is used.
quota_use left_of(const workspace_quota& now, std::int64_t part)
{
    const auto left = [part](std::int64_t limit, std::int64_t used) {
        return limit > 0 ? limit / part - used : unlimited;
    };
    return {left(now.limits.bytes, now.used.bytes), left(now.limits.files, now.used.files)};
}

bool take(quota_use& room, std::int64_t bytes)
{
    if (room.bytes < bytes || room.files < 1)
        return false;
    room.bytes -= bytes;
    room.files -= 1;
    return true;
}

refusal over_quota(const workspace_quota& now, quota_kind which)
{
    const bool bytes = which == quota_kind::bytes;
    return {errc::quota_exceeded,
            {{"of", bytes ? "bytes" : "files"},
             {"used", bytes ? now.used.bytes : now.used.files},
             {"limit", bytes ? now.limits.bytes : now.limits.files}}};
}

}  // namespace

awaitable<answerable<void>> quota_gate::admit(uuid workspace, std::uint64_t announced, std::uint64_t framing)
{
    const auto length = static_cast<std::int64_t>(std::max<std::uint64_t>(announced, 1));
    if (auto* known = spare_.find(workspace, real_clock().now()); known && take(*known, length))
        co_return answerable<void>();
    const auto estimate = co_await quotas_.estimate(workspace);
    if (!estimate && estimate.error() == errc::schema_missing)
        co_return answerable<void>();  // the write will say so, in its own words
    if (!estimate)
        co_return refusal(estimate.error());
    auto spare = left_of(*estimate, 2), room = left_of(*estimate, 1);
    if (take(spare, length))
        spare_.put(workspace, spare, real_clock().now());
    if (take(room, length))
        co_return answerable<void>();
    const auto counted = co_await quotas_.read(workspace);
    if (!counted)
        co_return refusal(counted.error());
    const quota_use least{.bytes = static_cast<std::int64_t>(announced > framing ? announced - framing : 1),
                          .files = 1};
    if (const auto excess = find_excess(*counted, least))
        co_return over_quota(*counted, *excess);
    co_return answerable<void>();
}

awaitable<refusal> quota_gate::explain(uuid workspace, std::span<const new_file> files)
{
    spare_.erase(workspace);
    const auto counted = co_await quotas_.read(workspace);
    if (!counted)
        co_return refusal(errc::quota_exceeded);
    quota_use asked{.files = static_cast<std::int64_t>(files.size())};
    for (const auto& file : files)
        asked.bytes += static_cast<std::int64_t>(file.content->size());
    // Something may have been freed since: then it was the bytes, as far as anybody can tell.
    co_return over_quota(*counted, find_excess(*counted, asked).value_or(quota_kind::bytes));
}

}  // namespace restante
