#include "storage/feed_tail.hpp"

namespace restante {

namespace {

// A short ordered scan of (workspace_id, seq) for each cursor; the sort at the end gets a few rows. The
// columns are those of feed_page, with all bodies.
const statement read_rows{"feed_tail", R"(
SELECT page.id, page.workspace_id, page.activity_type, page.source_id, page.target_id, page.method, page.summary,
       page.duration_ms, page.status, page.error_detail, page.created_at, page.seq,
       page.request_body, page.response_body, page.tool_trace, cursor.seq, NULL::int8
  FROM unnest($1::uuid[], $2::int8[]) AS cursor (workspace_id, seq)
 CROSS JOIN LATERAL (
       SELECT * FROM activity_logs AS a
        WHERE a.workspace_id = cursor.workspace_id AND a.seq > cursor.seq
        ORDER BY a.seq LIMIT 16) AS page
 ORDER BY page.workspace_id, page.seq)"};
static_assert(feed_tail::rows_each == 16, "the LIMIT above");

const statement read_all_heads{"feed_all_heads", "SELECT workspace_id, seq FROM activity_heads"};

}  // namespace

awaitable<result<feed_page>> feed_tail::read_after(std::span<const activity_head> cursors)
{
    std::vector<uuid> workspaces;
    std::vector<std::int64_t> numbers;
    for (const auto& cursor : cursors) {
        workspaces.push_back(cursor.workspace);
        numbers.push_back(cursor.seq);
    }
    const pq::parameters with{std::span<const uuid>(workspaces), std::span<const std::int64_t>(numbers)};
    auto rows = co_await db_.execute(read_rows, with);
    if (!rows)
        co_return rows.error();
    co_return feed_page(std::move(*rows), false);
}

awaitable<result<std::vector<activity_head>>> feed_tail::all_heads()
{
    auto rows = co_await db_.execute(read_all_heads);
    if (!rows)
        co_return rows.error();
    co_return rows->all<activity_head, uuid, std::int64_t>();
}

}  // namespace restante
