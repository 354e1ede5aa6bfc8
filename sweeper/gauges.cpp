#include "sweeper/gauges.hpp"

#include "core/log.hpp"
#include "storage/held_xmin.hpp"

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
                                  "When the figures of unacked files were last read from the database.")),
      held_(metrics.gauge("molecule_database_held_transactions",
                          "Transactions since the oldest snapshot that keeps VACUUM from removing rows."))
{
    for (const auto name : content_place_names)
        by_place_.push_back({metrics.gauge("molecule_content_stored_files",
                                           "Staged files by where their bytes are, acked ones included.",
                                           {{"store", name}}),
                             metrics.gauge("molecule_content_stored_bytes",
                                           "Bytes of staged files by where they are, acked ones included.",
                                           {{"store", name}})});
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
    const auto held = co_await read_held_transactions(db_);
    if (!held)
        co_return held.error();
    held_.set(static_cast<double>(*held));
    const auto now = co_await read_unacked_uploads(db_);
    if (!now)
        co_return now.error();
    files_.set(static_cast<double>(now->files));
    bytes_.set(static_cast<double>(now->bytes));
    never_fetched_.set(static_cast<double>(now->never_fetched));
    fetched_.set(static_cast<double>(now->fetched()));
    oldest_.set(now->oldest_seconds.value_or(0));
    estimated_.set(now->estimated ? 1 : 0);
    if (const auto ec = co_await refresh_places())
        co_return ec;
    const std::chrono::duration<double> since_epoch = std::chrono::system_clock::now().time_since_epoch();
    refreshed_at_.set(since_epoch.count());
    co_return error_code{};
}

awaitable<error_code> upload_gauges::refresh_places()
{
    content_rows rows(db_);
    const auto now = co_await rows.figures();
    if (!now)
        co_return now.error();
    for (std::size_t i = 0; i < by_place_.size(); ++i) {
        const auto found = std::find_if(now->begin(), now->end(), [&](const stored_figures& each) {
            return each.place == content_place_names[i];
        });
        by_place_[i].files.set(found == now->end() ? 0 : static_cast<double>(found->files));
        by_place_[i].bytes.set(found == now->end() ? 0 : static_cast<double>(found->bytes));
    }
    co_return error_code{};
}

}  // namespace restante
