#include "server/series/series_recorder.hpp"

#include "core/log.hpp"

namespace restante {

namespace {

// Five minutes; a longer gap shows.
constexpr std::size_t most_unwritten = 30;

timestamp now()
{
    return std::chrono::time_point_cast<timestamp::duration>(std::chrono::system_clock::now());
}

}  // namespace

series_recorder::series_recorder(collector collect, figures_store& store, recent_series& recent)
    : collect_(std::move(collect)), store_(store), recent_(recent)
{
}

awaitable<void> series_recorder::run(task_group& tasks)
{
    for (;;) {
        const auto began = now();
        const auto slot = slot_of(began);
        // When the clock is set back, the same ten seconds come again: the row is then replaced.
        if (co_await tasks.stopped_within(slot + series_step - began))
            co_return;
        // The timer's clock may be a moment ahead; a second point would replace the first with next to nothing.
        if (slot_of(now()) != slot)
            co_await record(slot);
    }
}

awaitable<void> series_recorder::record(timestamp slot)
{
    const auto metrics = co_await collect_();
    if (!metrics) {
        log_line(log_level::debug, "series_not_recorded").failure(metrics.error());
        co_return;
    }
    auto after = read_figures(**metrics);
    auto point = difference(before_, after);
    point.slot = slot;
    before_ = std::move(after);
    unwritten_.push_back(to_row(point));
    if (unwritten_.size() > most_unwritten)
        unwritten_.pop_front();
    recent_.add(std::move(point));
    co_await write();
}

awaitable<void> series_recorder::write()
{
    while (!unwritten_.empty()) {
        const auto written = co_await store_.write(server_, unwritten_.front());
        if (!written) {
            log_line(log_level::debug, "series_not_written").failure(written.error());
            co_return;
        }
        unwritten_.pop_front();
    }
}

}  // namespace restante
