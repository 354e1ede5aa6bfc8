#include "sweeper/content_janitor.hpp"

#include "core/log.hpp"
#include "storage/content/content_key.hpp"

namespace restante {

namespace {

// Large, because a directory reads the names of a whole hour for each page.
constexpr std::size_t page_size = 5000;
constexpr std::size_t most_suspects = 100'000;

}  // namespace

awaitable<void> content_janitor::run(task_group& tasks)
{
    for (const auto place : contents_.places())
        if (const auto why = contents_.keeps_leftovers(place))
            log_line(log_level::info, "content_leftovers_kept")
                .field("store", name_of(place))
                .field("reason", *why);
    do {
        for (const auto place : contents_.places()) {
            const auto removed = co_await clean(place);
            if (!removed && removed.error() != errc::schema_missing)
                log_line(log_level::warn, "content_cleaning_failed")
                    .field("store", name_of(place))
                    .failure(removed.error());
        }
    } while (!co_await tasks.stopped_within(interval));
}

awaitable<result<std::size_t>> content_janitor::clean(content_place place, std::chrono::seconds age)
{
    if (contents_.keeps_leftovers(place))
        co_return std::size_t{0};
    const auto now = co_await rows_.now();
    if (!now)
        co_return now.error();
    const auto beginning = co_await rows_.beginning();
    if (!beginning)
        co_return beginning.error();
    const auto before = hour_of(*now - age);
    std::size_t removed = 0;
    seen_now_.clear();
    for (std::string after = hour_of(*beginning);;) {
        const auto page = co_await contents_.list(place, after, before, page_size);
        if (!page)
            co_return page.error();
        if (page->empty())
            break;
        const auto cleaned = co_await clean_page(place, *page);
        if (!cleaned)
            co_return cleaned.error();
        removed += *cleaned;
        after = page->back().key;
    }
    std::swap(suspects_[place], seen_now_);
    if (removed > 0)
        log_line(log_level::warn, "content_orphans_removed")
            .field("store", name_of(place))
            .field("files", std::uint64_t{removed});
    co_return removed;
}

awaitable<result<std::size_t>> content_janitor::clean_page(content_place place,
                                                           std::span<const listed_content> page)
{
    std::vector<std::string> keys;
    for (const auto& each : page)
        keys.push_back(each.key);
    const auto orphans = co_await rows_.without_row(keys);
    if (!orphans)
        co_return orphans.error();
    std::vector<std::string> leftovers;
    const auto& before = suspects_[place];
    for (const auto& key : orphans->keys) {
        const auto known = before.find(key);
        if (known != before.end() && known->second <= orphans->horizon.oldest_running)
            leftovers.push_back(key);
        else if (seen_now_.size() < most_suspects)
            seen_now_.emplace(key, known != before.end() ? known->second : orphans->horizon.next);
    }
    if (leftovers.empty())
        co_return std::size_t{0};
    const auto kept = co_await contents_.remove(place, leftovers);
    if (!kept)
        co_return kept.error();
    const auto removed = leftovers.size() - kept->size();
    contents_.count_orphans(place, removed);
    co_return removed;
}

}  // namespace restante
