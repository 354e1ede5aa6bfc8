#pragma once

#include "core/clock.hpp"
#include "core/ids.hpp"
#include "storage/feed_page.hpp"
#include "storage/pq/parameter.hpp"
#include "storage/pq/statement.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

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

// The statement of a query's page. Its parameters are added; they refer to the query.
const statement& page_statement(pq::parameters& with, const feed_query& query);

// The large bodies of a page's rows, as feed_page::add_bodies() wants them. Parameters: the workspace, the
// numbers of the rows, and feed_query::max_row_bytes.
extern const statement read_large_bodies;

}  // namespace restante
