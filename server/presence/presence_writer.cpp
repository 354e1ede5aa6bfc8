#include "server/presence/presence_writer.hpp"

#include "core/log.hpp"
#include "server/presence/presence_events.hpp"

namespace restante {

namespace {

constexpr auto most_pause = std::chrono::milliseconds(1000);

}  // namespace

presence_writer::presence_writer(presence_notes& notes, presence_store& store, live_event_listener& events,
                                 metric_set& metrics, const clock& time)
    : notes_(notes),
      store_(store),
      events_(events),
      time_(time),
      written_(metrics.counter("molecule_presence_rows_written_total",
                               "Rows written because workspaces showed a sign of life."))
{
}

awaitable<void> presence_writer::run(task_group& tasks)
{
    const task_group::stop_callback stop(tasks, [this] { pace_.hurry(); });
    const auto pause =
        std::min(most_pause, std::chrono::duration_cast<std::chrono::milliseconds>(notes_.interval() / 2));
    for (bool stopping = false; !stopping;) {
        stopping = co_await tasks.stopped_within(pause);
        note_sources();
        if (const auto ec = co_await write())
            log_line(log_level::debug, "presence_not_written").failure(ec);
    }
}

// Often enough that none of them is missing for an interval.
void presence_writer::note_sources()
{
    if (time_.now() < sources_asked_ + notes_.interval() / 2)
        return;
    sources_asked_ = time_.now();
    std::vector<uuid> present;
    for (const auto* each : sources_)
        each->add_present(present);
    for (const auto& workspace : present)
        notes_.note(workspace, time_.now());
}

awaitable<error_code> presence_writer::write()
{
    auto signs = notes_.take(time_.now());
    if (signs.empty())
        co_return error_code{};
    const auto taken_at = time_.now();
    const auto changes = co_await store_.record(signs);
    if (!changes) {
        notes_.give_back(std::move(signs), taken_at);
        co_return changes.error();
    }
    written_.add(static_cast<double>(signs.size()));
    for (const auto& change : *changes)
        co_await report(change);
    co_return error_code{};
}

awaitable<void> presence_writer::report(const presence_change& change)
{
    for (const auto& each : events_of(change)) {
        events_.on_live_event(each);
        co_await pace_.reported();
    }
    if (change.before != change.after)
        log_line(log_level::info, "workspace_presence")
            .field("workspace_id", change.workspace)
            .field("before", change.before)
            .field("status", change.after);
}

}  // namespace restante
