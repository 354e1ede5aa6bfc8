#include "storage/content/content_stores.hpp"

namespace restante {

namespace {

metric_set::number& operations(metric_set& metrics, content_place place, std::string_view operation,
                               std::string_view outcome)
{
    return metrics.counter("molecule_content_operations_total", "Operations on content stores.",
                           {{"store", name_of(place)}, {"operation", operation}, {"outcome", outcome}});
}

}  // namespace

content_stores::counters::counters(metric_set& metrics, content_place place)
    : writes{operations(metrics, place, "write", "ok"), operations(metrics, place, "write", "error")},
      reads{operations(metrics, place, "read", "ok"), operations(metrics, place, "read", "error")},
      removals{operations(metrics, place, "remove", "ok"), operations(metrics, place, "remove", "error")},
      lists{operations(metrics, place, "list", "ok"), operations(metrics, place, "list", "error")},
      written_bytes(metrics.counter("molecule_content_written_bytes_total",
                                    "Bytes written to content stores.", {{"store", name_of(place)}})),
      lost(metrics.counter("molecule_content_lost_total",
                           "Fetches of files whose bytes are missing or damaged.",
                           {{"store", name_of(place)}})),
      orphans(metrics.counter("molecule_content_orphans_removed_total",
                              "Bytes without a row that the janitor has removed, as files.",
                              {{"store", name_of(place)}})),
      unavailable(metrics.gauge("molecule_content_store_unavailable",
                                "Threads that cannot use the content store now.",
                                {{"store", name_of(place)}}))
{
}

content_stores::content_stores(content_policy policy, metric_set& metrics)
    : policy_(policy), metrics_(metrics)
{
    metrics.before_scrape([this] {
        for (auto& [place, each] : stores_)
            each.count.unavailable.set(each.store->trouble() ? 1 : 0);
    });
}

void content_stores::add(std::unique_ptr<content_store> store)
{
    const auto place = store->place();
    stores_.emplace(place, entry{std::move(store), counters(metrics_, place)});
}

content_stores::entry* content_stores::entry_of(content_place place)
{
    const auto found = stores_.find(place);
    return found == stores_.end() ? nullptr : &found->second;
}

content_store* content_stores::find(content_place place) const
{
    const auto found = stores_.find(place);
    return found == stores_.end() ? nullptr : found->second.store.get();
}

std::vector<content_place> content_stores::places() const
{
    std::vector<content_place> out;
    for (const auto& [place, each] : stores_)
        out.push_back(place);
    return out;
}

bool content_stores::has_room(std::uint64_t bytes) const
{
    const auto* store = find(policy_.place_for(bytes));
    return store && store->has_room(bytes);
}

awaitable<error_code> content_stores::write(content_place place, std::span<const content_to_store> files)
{
    auto* to = entry_of(place);
    if (!to)
        co_return RESTANTE_ERROR(errc::content_store_unavailable);
    const auto ec = co_await to->store->write(files);
    to->count.writes.count(!ec);
    for (const auto& file : files)
        to->count.written_bytes.add(ec ? 0 : static_cast<double>(file.bytes->size()));
    co_return ec;
}

awaitable<result<std::unique_ptr<content_reader>>> content_stores::open(content_place place,
                                                                        stored_content what,
                                                                        content_part part)
{
    auto* from = entry_of(place);
    if (!from)
        co_return RESTANTE_ERROR(errc::content_store_unavailable);
    auto opened = co_await from->store->open(std::move(what), part);
    from->count.reads.count(opened.has_value());
    co_return opened;
}

awaitable<result<std::vector<std::string>>> content_stores::remove(content_place place,
                                                                   std::span<const std::string> keys)
{
    auto* from = entry_of(place);
    if (!from)
        co_return RESTANTE_ERROR(errc::content_store_unavailable);
    auto kept = co_await from->store->remove(keys);
    from->count.removals.count(kept && kept->empty());
    co_return kept;
}

awaitable<result<std::vector<listed_content>>> content_stores::list(content_place place, std::string after,
                                                                    std::string before, std::size_t limit)
{
    auto* from = entry_of(place);
    if (!from)
        co_return RESTANTE_ERROR(errc::content_store_unavailable);
    auto listed = co_await from->store->list(std::move(after), std::move(before), limit);
    from->count.lists.count(listed.has_value());
    co_return listed;
}

void content_stores::keep_leftovers(content_place place, std::string why)
{
    if (auto* where = entry_of(place))
        where->keeps_leftovers = std::move(why);
}

std::optional<std::string> content_stores::keeps_leftovers(content_place place) const
{
    const auto found = stores_.find(place);
    return found == stores_.end() ? std::nullopt : found->second.keeps_leftovers;
}

void content_stores::count_lost(content_place place)
{
    if (auto* where = entry_of(place))
        where->count.lost.add();
}

void content_stores::count_orphans(content_place place, std::size_t removed)
{
    if (auto* where = entry_of(place))
        where->count.orphans.add(static_cast<double>(removed));
}

std::vector<std::string> content_stores::troubles() const
{
    std::vector<std::string> out;
    for (const auto& [place, each] : stores_)
        if (const auto trouble = each.store->trouble())
            out.push_back("content store: " + *trouble);
    return out;
}

awaitable<void> content_stores::run(task_group& tasks, content_place place)
{
    if (auto* which = find(place))
        co_await which->run(tasks);
}

}  // namespace restante
