#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"
#include "core/ids.hpp"
#include "storage/feed_query.hpp"
#include "storage/pq/pool.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace restante {

class standby_feed;

// The newest number of a workspace's feed.
struct activity_head {
    uuid workspace;
    std::int64_t seq = 0;
};

// The reading side of the feed. Each call is one statement, whose cost does not depend on the length of the
// history; a page with large bodies takes a second one. Some pages come from a standby, if there is one.
class activity_feed {
public:
    // Without a budget pages are not charged; `elsewhere` may be null.
    explicit activity_feed(pq::connection_pool& db) : db_(db) {}
    activity_feed(pq::connection_pool& db, memory_budget& memory, standby_feed* elsewhere = nullptr)
        : db_(db), memory_(&memory), elsewhere_(elsewhere)
    {
    }

    // With a cursor: the rows after it, oldest first; without: the newest, newest first. A page ends before
    // its limit when its rows above 4 KiB come to more than max_bytes: only an empty page is the end. Fails
    // with cursor_gone when since_id is no row of this workspace, or when rows after since_seq have been
    // removed or it is ahead of the newest (0 begins with the oldest that is kept), and with no_room when there is no memory for the page.
    awaitable<result<feed_page>> read(const feed_query& query);

    // The heads of these workspaces, in no order; one without activity has none.
    awaitable<result<std::vector<activity_head>>> heads(std::span<const uuid> workspaces);

private:
    awaitable<result<feed_page>> read_here(const feed_query& query);
    awaitable<error_code> bring_large_bodies(const feed_query& query, feed_page& page);

    pq::connection_pool& db_;
    memory_budget* memory_ = nullptr;
    standby_feed* elsewhere_ = nullptr;
};

}  // namespace restante
