#pragma once

#include "core/asio.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/ids.hpp"
#include "storage/feed_page.hpp"
#include "storage/pq/pool.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace restante {

enum class activity_source { any, canvas, agent };

// A query of the feed; everything in it has been validated.
struct feed_query {
    static constexpr int default_limit = 100;
    static constexpr int max_limit = 500;

    uuid workspace{};
    std::optional<uuid> since_id = {};  // at most one of these two
    std::optional<std::int64_t> since_seq = {};
    std::optional<std::string> type = {};
    activity_source source = activity_source::any;
    std::optional<uuid> peer = {};
    std::optional<std::chrono::seconds> since = {};  // back from the database's now
    std::optional<timestamp> before = {};
    int limit = default_limit;
    bool past_gaps = false;  // with since_seq: rows that were removed are passed over, not cursor_gone
    bool peer_info = false;
    std::int64_t max_bytes = feed_page::max_page_bytes;  // of large bodies; one row may be more
    std::int64_t max_row_bytes = std::numeric_limits<std::int64_t>::max();  // larger ones come without bodies
};

// The newest number of a workspace's feed.
struct activity_head {
    uuid workspace;
    std::int64_t seq = 0;
};

// The reading side of the feed. Each call is one statement, whose cost does not depend on the length of the
// history; a page with large bodies takes a second one.
class activity_feed {
public:
    // Without a budget pages are not charged.
    explicit activity_feed(pq::connection_pool& db) : db_(db) {}
    activity_feed(pq::connection_pool& db, memory_budget& memory) : db_(db), memory_(&memory) {}

    // With a cursor: the rows after it, oldest first; without: the newest, newest first. A page ends before
    // its limit when its rows above 4 KiB come to more than max_bytes: only an empty page is the end. Fails
    // with cursor_gone when since_id is no row of this workspace, or when rows after since_seq have been
    // removed or it is ahead of the newest (0 begins with the oldest that is kept), and with no_room when there is no memory for the page.
    awaitable<result<feed_page>> read(const feed_query& query);

    // The heads of these workspaces, in no order; one without activity has none.
    awaitable<result<std::vector<activity_head>>> heads(std::span<const uuid> workspaces);

private:
    awaitable<error_code> bring_large_bodies(const feed_query& query, feed_page& page);

    pq::connection_pool& db_;
    memory_budget* memory_ = nullptr;
};

}  // namespace restante
