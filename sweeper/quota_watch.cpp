#include "sweeper/quota_watch.hpp"

#include "core/log.hpp"

namespace restante {

namespace {

constexpr int refreshes_between_recounts = 4;
// Of up to 1,000 workspaces each; what is left comes with the next recount.
constexpr int most_batches = 20;

}  // namespace

quota_watch::quota_watch(quota_store& quotas, metric_set& metrics)
    : quotas_(quotas),
      fullest_(metrics.gauge("molecule_workspace_quota_fullest_ratio",
                             "Share of its quota that is used by the workspace that is nearest to it."))
{
}

awaitable<void> quota_watch::run(task_group& tasks)
{
    for (int turn = 0; !tasks.stop_requested(); ++turn) {
        auto failure = error_code{};
        if (turn % refreshes_between_recounts == 0)
            failure = co_await recount();
        if (!failure)
            failure = co_await refresh();
        if (failure)
            log_line(log_level::debug, "quotas_not_refreshed").failure(failure);
        co_await tasks.stopped_within(interval);
    }
}

awaitable<error_code> quota_watch::refresh()
{
    const auto fullest = co_await quotas_.fullest();
    if (!fullest)
        co_return fullest.error();
    fullest_.set(*fullest ? (*fullest)->share : 0);
    co_return error_code{};
}

awaitable<error_code> quota_watch::recount()
{
    for (int i = 0; i < most_batches; ++i) {
        if (const auto ec = co_await quotas_.recount_some())
            co_return ec;
        if (!quotas_.has_more_to_recount())
            break;
    }
    co_return error_code{};
}

}  // namespace restante
