#include "sweeper/sweeper.hpp"

#include "core/log.hpp"

namespace restante {

namespace {

metric_set::number& swept(metric_set& metrics, std::string_view outcome)
{
    return metrics.counter("molecule_pending_uploads_swept_total",
                           "Staged files removed after their ack or their expiry, and cycles that failed.",
                           {{"outcome", outcome}});
}

metric_set::number& forgotten(metric_set& metrics, std::string_view what)
{
    return metrics.counter(
        "molecule_sweep_forgotten_total",
        "Rows removed by the sweep that are not files: upload requests, activity, receipts.",
        {{"what", what}});
}

std::int64_t milliseconds_of(std::chrono::microseconds d)
{
    return std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
}

}  // namespace

sweeper::sweeper(pq::connection_pool& db, metric_set& metrics, retention_policy policy, cycle_shares shares,
                 live_event_listener* listener)
    : storage_(db, listener),
      policy_(policy),
      shares_(shares),
      acked_(swept(metrics, "acked")),
      expired_(swept(metrics, "expired")),
      errors_(swept(metrics, "error")),
      requests_(forgotten(metrics, "requests")),
      activity_(forgotten(metrics, "activity")),
      receipts_(forgotten(metrics, "receipts")),
      last_success_(metrics.gauge("molecule_sweep_last_success_timestamp_seconds",
                                  "When a cycle of this process last ended without an error.")),
      duration_(metrics.seconds("molecule_sweep_duration_seconds", "How long cycles of the sweep took."))
{
}

awaitable<void> sweeper::run(task_group& tasks)
{
    std::uniform_real_distribution<double> chance(0, 1);
    bool stopped = tasks.stop_requested();
    while (!stopped) {
        const auto report = co_await sweep_once(tasks);
        const bool go_on = report.more && !report.failure;
        const auto pause = go_on ? pause_with_backlog : pause_before_next(policy_.interval, chance(random_));
        stopped = co_await tasks.stopped_within(pause);
    }
}

awaitable<cycle_report> sweeper::sweep_once(task_group& tasks)
{
    const auto began = std::chrono::steady_clock::now();
    auto report = co_await sweep_everything(tasks);
    report.took =
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began);
    log_report(report);

    // Informational only: an unavailable database has already been reported.
    const sweep_record record{.gone = report.files, .took = report.took, .failure = report.failure};
    co_await storage_.record(record);
    co_return report;
}

awaitable<cycle_report> sweeper::sweep_everything(task_group& tasks)
{
    cycle_report report;
    const sweep_time for_files(tasks, shares_.files);
    const auto files = co_await storage_.sweep(policy_.acked, for_files);
    report.files = files.gone;
    report.more = files.more;
    report.failure = files.failure;
    if (files.failure == errc::schema_missing || tasks.stop_requested())
        co_return report;

    const sweep_time for_requests(tasks, shares_.requests);
    const auto requests = co_await storage_.forget_requests(for_requests);
    report.requests = requests.gone;
    report.add(requests);
    if (tasks.stop_requested())
        co_return report;

    const sweep_time for_activity(tasks, shares_.activity);
    const auto activity = co_await storage_.forget_activity(policy_.activity, for_activity);
    report.activity = activity.gone;
    report.add(activity);
    if (tasks.stop_requested())
        co_return report;

    const sweep_time for_receipts(tasks, shares_.receipts);
    const auto receipts = co_await storage_.forget_receipts(policy_.activity, for_receipts);
    report.receipts = receipts.gone;
    report.add(receipts);
    co_return report;
}

void sweeper::log_report(const cycle_report& report)
{
    acked_.add(static_cast<double>(report.files.acked));
    expired_.add(static_cast<double>(report.files.expired));
    requests_.add(static_cast<double>(report.requests));
    activity_.add(static_cast<double>(report.activity));
    receipts_.add(static_cast<double>(report.receipts));
    duration_.observe(std::chrono::duration<double>(report.took).count());
    if (report.did_something())
        log_line(log_level::info, "sweep_done")
            .field("acked", report.files.acked)
            .field("expired", report.files.expired)
            .field("requests", report.requests)
            .field("activity", report.activity)
            .field("receipts", report.receipts)
            .field("duration_ms", milliseconds_of(report.took));
    if (report.failure) {
        log_failure(report);
        return;
    }
    const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
    last_success_.set(now.count());
    if (std::exchange(disabled_, false))
        log_line(log_level::info, "sweeper_enabled");
}

// A server may be started before its schema exists. That is not a failure of the sweep; it waits, like the
// uploads.
void sweeper::log_failure(const cycle_report& report)
{
    if (report.failure == errc::shutting_down)
        return;
    if (report.failure == errc::schema_missing) {
        if (!std::exchange(disabled_, true))
            log_line(log_level::warn, "sweeper_disabled")
                .field("reason",
                       "the database has no pending_uploads table or an old schema; run `restante migrate`");
        return;
    }
    errors_.add();
    log_line(log_level::error, "sweep_failed")
        .failure(report.failure)
        .field("duration_ms", milliseconds_of(report.took));
}

}  // namespace restante
