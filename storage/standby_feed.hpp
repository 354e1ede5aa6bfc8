#pragma once

#include "storage/feed_query.hpp"
#include "storage/standby.hpp"

namespace restante {

// Reads pages of the feed on a standby, where it gives what the primary would have given.
//
// The primary is asked first, with one cheap statement: where the cursor is, and which row is the newest. The
// standby must have that row, the same one, so it shares the primary's history up to there and has replayed
// it; and the page must not go beyond it, because what the primary does not show yet may not be confirmed.
// Rows are never changed, and retention removes the oldest ones: if the primary has the rows after a cursor,
// none of them can be one that it has removed.
//
// So only queries with a cursor qualify, and those without times or peers' names, which change.
class standby_feed {
public:
    standby_feed(pq::connection_pool& primary, standby& standby) : primary_(primary), standby_(standby) {}

    // Nothing: the primary has to be asked for the page.
    awaitable<std::optional<feed_page>> read(const feed_query& query);

private:
    struct newest_row {
        std::int64_t after = 0;  // the cursor's number
        std::int64_t seq = 0;
        uuid id{};
        timestamp written_at{};  // by the database's clock: a row that was lost and sent again has another
    };
    struct answer {
        standby_outcome outcome = standby_outcome::failed;
        std::optional<feed_page> page = {};
    };

    awaitable<std::optional<newest_row>> ask_primary(const feed_query& query);
    awaitable<answer> ask_standby(pq::connection& session, const feed_query& query, const newest_row& newest);

    pq::connection_pool& primary_;
    standby& standby_;
};

}  // namespace restante
