#include "storage/chat_history.hpp"

namespace restante {

namespace {

constexpr int found_column = 6;

// A short walk along activity_logs_canvas; the windows see one page. PostgreSQL knows the lengths of bodies
// without reading them. The constant LIMIT is for the planner, as in the statements of the feed.
const statement read_page{"chat_history", R"(
WITH start AS MATERIALIZED (
    SELECT least($3::int8, CASE WHEN $2::timestamptz IS NULL THEN 9223372036854775807
                                ELSE activity_seq_before($1::uuid, $2::timestamptz) END) AS high)
SELECT page.id, page.seq, page.created_at,
       CASE WHEN page.shown THEN page.request_body END, CASE WHEN page.shown THEN page.response_body END,
       page.bytes > $5::int8, page.found
  FROM (SELECT few.*, count(*) OVER () AS found, row_number() OVER so_far AS number,
               sum(CASE WHEN few.shown THEN few.bytes ELSE 0 END) OVER so_far AS total
          FROM start
         CROSS JOIN LATERAL (
               SELECT sized.*, sized.bytes BETWEEN 1 AND $5::int8 AS shown
                 FROM (SELECT walk.*, CASE WHEN walk.method = 'chat_upload_receive' THEN 0 ELSE
                              coalesce(octet_length(walk.request_body::text), 0) +
                              coalesce(octet_length(walk.response_body::text), 0) END AS bytes
                         FROM (SELECT * FROM activity_logs AS log
                                WHERE log.workspace_id = $1::uuid AND log.activity_type = 'a2a_receive'
                                  AND log.source_id IS NULL AND log.seq <= start.high
                                ORDER BY log.seq DESC LIMIT 200) AS walk
                       OFFSET 0) AS sized) AS few
        WINDOW so_far AS (ORDER BY few.seq DESC)) AS page
 WHERE page.total <= $4::int8 OR page.number = 1
 ORDER BY page.seq DESC)"};
static_assert(chat_history::rows_a_page == 200, "the LIMIT above");

}  // namespace

chat_page::chat_page(pq::result_set rows, int asked) : rows_(std::move(rows)), last_(rows_.empty())
{
    if (rows_.empty())
        return;
    const auto found = rows_[0][found_column].as<std::int64_t>().value();
    last_ = found < asked && found == rows_.size();
}

result<chat_row> chat_page::operator[](int index) const
{
    using text = std::optional<std::string_view>;
    return rows_[index].into<chat_row, uuid, std::int64_t, timestamp, text, text, bool>();
}

awaitable<result<chat_page>> chat_history::read(uuid workspace, chat_start from)
{
    const pq::parameters with(workspace, from.before, from.up_to, max_bytes, max_row_bytes);
    auto rows = co_await db_.execute(read_page, with, workspace);
    if (!rows)
        co_return rows.error();
    co_return chat_page(std::move(*rows), rows_a_page);
}

}  // namespace restante
