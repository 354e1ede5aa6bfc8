#include "sweeper/content_remover.hpp"

#include "core/fault_point.hpp"
#include "core/log.hpp"

#include <set>

namespace restante {

namespace {

constexpr std::size_t batch_size = 200;

}  // namespace

content_remover::content_remover(pq::connection_pool& db, content_stores& contents, metric_set& metrics)
    : queue_(db),
      contents_(contents),
      waiting_(metrics.gauge("molecule_content_removals_waiting",
                             "Files whose rows are gone and whose bytes are still to be removed."))
{
}

awaitable<void> content_remover::run(task_group& tasks)
{
    do {
        const auto removed = co_await remove_due(tasks);
        if (!removed && removed.error() != errc::schema_missing)
            log_line(log_level::warn, "content_removal_failed").failure(removed.error());
    } while (!co_await tasks.stopped_within(interval));
}

awaitable<result<std::size_t>> content_remover::remove_due(task_group& tasks)
{
    std::size_t total = 0;
    error_code failure;
    for (const auto place : contents_.places()) {
        if (place == content_place::inline_)
            continue;
        for (bool more = true; more && !tasks.stop_requested();) {
            const auto done = co_await remove_batch(place);
            if (!done)
                failure = done.error();
            more = done && done->more;
            total += done ? done->removed : 0;
        }
    }
    if (const auto left = co_await queue_.waiting())
        waiting_.set(static_cast<double>(*left));
    if (failure)
        co_return failure;
    co_return total;
}

awaitable<result<content_remover::batch>> content_remover::remove_batch(content_place place)
{
    const auto delay = contents_.find(place)->removal_delay();
    auto claimed = co_await queue_.claim(place, delay, int{batch_size});
    if (!claimed)
        co_return claimed.error();
    if (claimed->empty())
        co_return batch{};
    std::vector<std::string> keys;
    for (const auto& each : *claimed)
        keys.push_back(each.key);
    const auto kept = co_await contents_.remove(place, keys);
    if (!kept)
        co_return kept.error();
    fault_point("bytes_removed");
    const std::set<std::string_view> still_there(kept->begin(), kept->end());
    std::erase_if(*claimed, [&](const auto& each) { return still_there.contains(each.key); });
    const auto finished = co_await queue_.finish(*claimed);
    if (!finished)
        co_return finished.error();
    co_return batch{claimed->size(), keys.size() == batch_size && !claimed->empty()};
}

}  // namespace restante
