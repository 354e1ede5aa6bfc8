#include "server/events/parked_receipts.hpp"

#include <algorithm>

namespace restante {

namespace {

constexpr auto between_checks = std::chrono::seconds(3);
constexpr std::size_t files_at_once = 1000;

}  // namespace

parked_receipts::parked_receipts(executor ex, receipt_store& receipts, metric_set& metrics)
    : parked_requests(ex, metrics.gauge("molecule_parked_receipts",
                                        "Requests that wait until a file has been fetched or acked.")),
      receipts_(receipts),
      wake_(ex)
{
}

void parked_receipts::on_live_event(std::shared_ptr<const live_event> what) noexcept
{
    if (empty())
        return;
    if (const auto news = read_upload_event(*what))
        wake(news->file, progress_of(news->reached));
}

awaitable<void> parked_receipts::run_checks(task_group& tasks)
{
    const task_group::stop_callback stop(tasks, [this] { wake_.notify_all(); });
    while (!tasks.stop_requested()) {
        if (!wanted_)
            co_await wake_.wait_until(std::chrono::steady_clock::now() + between_checks);
        wanted_ = false;
        if (!tasks.stop_requested())
            co_await check();
    }
}

void parked_receipts::check_now() noexcept
{
    wanted_ = true;
    wake_.notify_all();
}

awaitable<void> parked_receipts::check()
{
    std::vector<uuid> files;
    add_awaited(files);
    for (std::size_t from = 0; from < files.size(); from += files_at_once) {
        const auto some = std::span(files).subspan(from, std::min(files_at_once, files.size() - from));
        const auto states = co_await receipts_.states(some);
        if (!states)
            co_return;  // the database is unavailable; the next check will see what was missed
        for (const auto& each : *states)
            wake(each.file, progress_of(each.reached));
    }
}

}  // namespace restante
