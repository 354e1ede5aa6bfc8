#pragma once

#include "storage/activity_feed.hpp"

namespace restante {

// The end of many feeds at once, for live subscribers. Each call is one statement; errors are those of the
// pool.
class feed_tail {
public:
    // Keep one answer small, however many rows there are to catch up with and however large they are: ask
    // again after the last.
    static constexpr int most_rows_each = 16;
    static constexpr std::int64_t max_bytes = 480 * 1024;
    // Rows above this come without bodies; a JSON body of 1 MiB and what is added to it is not.
    static constexpr std::int64_t max_row_bytes = (1 << 20) + (1 << 16);

    struct rows_after {
        feed_page rows;
        bool complete;  // no row was left out for its size
    };

    explicit feed_tail(pq::connection_pool& db) : db_(db), feed_(db) {}

    // The rows after each cursor, at most rows_each for each; in the order of the cursors, and by rising seq
    // within one. The database reads all of them to know their lengths. Ends before the row whose bodies
    // would exceed max_bytes, unless it is the first.
    awaitable<result<rows_after>> read_after(std::span<const activity_head> cursors, int rows_each);

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
