#include "server/commands/content_orphans.hpp"

#include "server/commands/progress_line.hpp"
#include "storage/content/content_key.hpp"
#include "sweeper/content_janitor.hpp"

#include <algorithm>
#include <set>
#include <span>

namespace restante {

namespace {

constexpr std::size_t page_size = 200;
// Large, because a directory reads the names of a whole hour for each page.
constexpr std::size_t listed_at_once = 5000;
// How often, and how far apart, it is asked whether the transactions of the first look have ended.
constexpr int most_looks = 60;
constexpr auto between_looks = std::chrono::milliseconds(500);

// Removes those that still have no row, when every transaction that could have written one has ended. One
// that waits for a synchronous standby has not.
awaitable<result<orphan_removal>> remove_page(content_session& on, content_place place,
                                              std::span<const orphan> page)
{
    std::vector<std::string> keys;
    for (const auto& each : page)
        keys.push_back(each.key);
    const auto orphans = co_await on.rows.without_row(keys);
    if (!orphans)
        co_return orphans.error();
    const std::set<std::string> still(orphans->keys.begin(), orphans->keys.end());
    std::vector<std::string> leftovers;
    orphan_removal left;
    for (const auto& each : page) {
        if (still.contains(each.key) && each.seen_at <= orphans->horizon.oldest_running)
            leftovers.push_back(each.key);
        else if (still.contains(each.key))
            left.undecided.push_back(each);
    }
    if (leftovers.empty())
        co_return left;
    const auto kept = co_await on.stores.remove(place, leftovers);
    if (!kept)
        co_return store_failed(on, place, kept.error());
    left.kept = kept->size();
    co_return left;
}

}  // namespace

awaitable<result<std::vector<orphan>>> find_orphans(content_session& on, content_place place, bool quiet)
{
    const auto now = co_await on.rows.now();
    if (!now)
        co_return now.error();
    const auto before = hour_of(*now - content_janitor::youngest);
    std::vector<orphan> suspects;
    counting_line progress("looking for bytes without a row in " + std::string(name_of(place)), !quiet);
    for (std::string after;;) {
        const auto page = co_await on.stores.list(place, after, before, listed_at_once);
        if (!page)
            co_return store_failed(on, place, page.error());
        if (page->empty())
            co_return suspects;
        std::vector<std::string> keys;
        for (const auto& each : *page)
            keys.push_back(each.key);
        after = keys.back();
        const auto orphans = co_await on.rows.without_row(keys);
        if (!orphans)
            co_return orphans.error();
        for (const auto& key : orphans->keys)
            suspects.push_back({key, orphans->horizon.next});
        progress.advance(keys.size());
    }
}

awaitable<result<orphan_removal>> remove_orphans(content_session& on, content_place place,
                                                 std::vector<orphan> suspects, bool quiet)
{
    std::size_t kept = 0;
    counting_line progress("removing bytes without a row from " + std::string(name_of(place)), !quiet);
    steady_timer pause(co_await asio::this_coro::executor);
    for (int attempt = 0; !suspects.empty() && attempt < most_looks; ++attempt) {
        if (attempt > 0) {
            pause.expires_after(between_looks);
            co_await pause.async_wait(use_tuple);
        }
        orphan_removal left;
        for (std::span<const orphan> rest = suspects; !rest.empty();) {
            const auto page = rest.first(std::min<std::size_t>(rest.size(), page_size));
            rest = rest.subspan(page.size());
            const auto of_page = co_await remove_page(on, place, page);
            if (!of_page)
                co_return of_page.error();
            left.add(*of_page);
            progress.advance(page.size() - of_page->undecided.size());
        }
        kept += left.kept;
        suspects = std::move(left.undecided);
    }
    co_return orphan_removal{std::move(suspects), kept};
}

}  // namespace restante
