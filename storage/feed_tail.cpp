#include "storage/feed_tail.hpp"

namespace restante {

namespace {

constexpr int found_column = 17;

// A short ordered walk along (workspace_id, seq) for each cursor; the sort sees a few rows. The constant
// LIMIT is for the planner, as in the statements of the feed. The columns are those of feed_page, with all
// bodies, and how many rows were found before those that are too much were left out.
const statement read_rows{"feed_tail", R"(
SELECT page.id, page.workspace_id, page.activity_type, page.source_id, page.target_id, page.method, page.summary,
       page.duration_ms, page.status, page.error_detail, page.created_at, page.seq,
       CASE WHEN page.bytes <= $5::int8 THEN page.request_body END,
       CASE WHEN page.bytes <= $5::int8 THEN page.response_body END,
       CASE WHEN page.bytes <= $5::int8 THEN page.tool_trace END,
       page.after, CASE WHEN page.bytes > $5::int8 THEN page.bytes END::int8, page.found
  FROM (SELECT a.*, cursor.seq AS after, cursor.place, count(*) OVER () AS found,
               row_number() OVER so_far AS number,
               sum(CASE WHEN a.bytes <= $5::int8 THEN a.bytes ELSE 0 END) OVER so_far AS total
          FROM unnest($1::uuid[], $2::int8[]) WITH ORDINALITY AS cursor (workspace_id, seq, place)
         CROSS JOIN LATERAL (
               SELECT *, coalesce(octet_length(request_body::text), 0) +
                         coalesce(octet_length(response_body::text), 0) +
                         coalesce(octet_length(tool_trace::text), 0) AS bytes
                 FROM (SELECT * FROM activity_logs AS log
                        WHERE log.workspace_id = cursor.workspace_id AND log.seq > cursor.seq
                        ORDER BY log.seq LIMIT 16) AS walk
                LIMIT $4::int8) AS a
        WINDOW so_far AS (ORDER BY cursor.place, a.seq)) AS page
 WHERE page.total <= $3::int8 OR page.number = 1
 ORDER BY page.place, page.seq)"};
static_assert(feed_tail::most_rows_each == 16, "the LIMIT above");

const statement read_all_heads{"feed_all_heads", "SELECT workspace_id, seq FROM activity_heads"};

}  // namespace

awaitable<result<feed_tail::rows_after>> feed_tail::read_after(std::span<const activity_head> cursors,
                                                               int rows_each)
{
    std::vector<uuid> workspaces;
    std::vector<std::int64_t> numbers;
    for (const auto& cursor : cursors) {
        workspaces.push_back(cursor.workspace);
        numbers.push_back(cursor.seq);
    }
    const pq::parameters with{std::span<const uuid>(workspaces), std::span<const std::int64_t>(numbers),
                              max_bytes, std::int64_t{rows_each}, max_row_bytes};
    auto rows = co_await db_.execute(read_rows, with);
    if (!rows)
        co_return rows.error();
    bool complete = true;
    if (!rows->empty()) {
        const auto found = (*rows)[0][found_column].as<std::int64_t>();
        if (!found)
            co_return found.error();
        complete = *found == rows->size();
    }
    co_return rows_after{feed_page(std::move(*rows), false, max_row_bytes), complete};
}

awaitable<result<std::vector<activity_head>>> feed_tail::all_heads()
{
    auto rows = co_await db_.execute(read_all_heads);
    if (!rows)
        co_return rows.error();
    co_return rows->all<activity_head, uuid, std::int64_t>();
}

}  // namespace restante
