#pragma once

#include "storage/activity_feed.hpp"

namespace restante {

// The end of many feeds at once, for live subscribers. Each call is one statement; errors are those of the
// pool.
class feed_tail {
public:
    // Keeps one answer small, however many rows there are to catch up with: query again after the last.
    static constexpr int rows_each = 16;

    explicit feed_tail(pq::connection_pool& db) : db_(db), feed_(db) {}

    // The rows after each cursor, at most rows_each for each; by workspace, and by rising seq within one.
    awaitable<result<feed_page>> read_after(std::span<const activity_head> cursors);

    awaitable<result<std::vector<activity_head>>> heads(std::span<const uuid> workspaces)
    {
        return feed_.heads(workspaces);
    }
    // Of every workspace that has any activity.
    awaitable<result<std::vector<activity_head>>> all_heads();

private:
    pq::connection_pool& db_;
    activity_feed feed_;
};

}  // namespace restante
