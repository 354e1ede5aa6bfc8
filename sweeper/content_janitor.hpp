#pragma once

#include "core/task_group.hpp"
#include "storage/content/content_stores.hpp"
#include "storage/content_rows.hpp"

#include <map>

namespace restante {

// Removes bytes that no row names: what a crash between storing bytes and committing their row leaves behind.
//
// It must never take bytes whose row may still come. So it takes only those of hours that ended two hours
// ago, that it has seen without a row in an earlier pass, and only when every transaction that was running
// then has ended. A transaction that begins later does not name such old bytes (storage/staging). Bytes that
// are older than the database are no leftovers of its servers: whoever starts one on an empty database and
// the directory of another loses nothing. And nothing is taken from a store that keeps_leftovers().
class content_janitor {
public:
    static constexpr auto interval = std::chrono::minutes(30);
    static constexpr auto youngest = std::chrono::hours(2);

    content_janitor(pq::connection_pool& db, content_stores& contents) : rows_(db), contents_(contents) {}

    awaitable<void> run(task_group& tasks);

    // One pass over one store; how many were removed.
    awaitable<result<std::size_t>> clean(content_place place, std::chrono::seconds age = youngest);

private:
    awaitable<result<std::size_t>> clean_page(content_place place, std::span<const listed_content> page);

    content_rows rows_;
    content_stores& contents_;
    // Keys that were seen without a row, with the first transaction that had not begun then: in the last pass
    // over each store, and in this one.
    using suspects = std::map<std::string, std::int64_t>;
    std::map<content_place, suspects> suspects_;
    suspects seen_now_;
};

}  // namespace restante
