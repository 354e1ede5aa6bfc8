#include "sweeper/gauges.hpp"

#include "core/log.hpp"

namespace restante {

upload_gauges::upload_gauges(pq::connection_pool& db, metric_set& metrics)
    : db_(db),
      files_(metrics.gauge("molecule_pending_uploads_unacked_files", "Staged files that nobody has acked.")),
      bytes_(metrics.gauge("molecule_pending_uploads_unacked_bytes",
                           "Bytes of the staged files that nobody has acked.")),
      never_fetched_(metrics.gauge("molecule_pending_uploads_never_fetched_files",
                                   "Unacked files that nobody has fetched either.")),
      fetched_(metrics.gauge("molecule_pending_uploads_fetched_unacked_files",
                             "Files that were fetched, but not acked.")),
      oldest_(metrics.gauge("molecule_pending_uploads_oldest_unacked_seconds",
                            "Age of the unacked file that expires first; 0 when there is none.")),
      estimated_(metrics.gauge(
          "molecule_pending_uploads_estimated",
          "1 while the figures are estimated from a sample, with more than 10,000 unacked files.")),
      refreshed_at_(metrics.gauge("molecule_pending_uploads_refreshed_timestamp_seconds",
                                  "When the figures of unacked files were last read from the database."))
{
}

awaitable<void> upload_gauges::run(task_group& tasks)
{
    bool stopped = tasks.stop_requested();
    while (!stopped) {
        if (const auto ec = co_await refresh())
            log_line(log_level::debug, "gauges_not_refreshed").failure(ec);
        stopped = co_await tasks.stopped_within(interval);
    }
}

awaitable<error_code> upload_gauges::refresh()
{
    const auto now = co_await read_unacked_uploads(db_);
    if (!now)
        co_return now.error();
    files_.set(static_cast<double>(now->files));
    bytes_.set(static_cast<double>(now->bytes));
    never_fetched_.set(static_cast<double>(now->never_fetched));
    fetched_.set(static_cast<double>(now->fetched()));
    oldest_.set(now->oldest_seconds.value_or(0));
    estimated_.set(now->estimated ? 1 : 0);
    const std::chrono::duration<double> since_epoch = std::chrono::system_clock::now().time_since_epoch();
    refreshed_at_.set(since_epoch.count());
    co_return error_code{};
}

}  // namespace restante
