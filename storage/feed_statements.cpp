#include "storage/feed_statements.hpp"

#include "storage/activity.hpp"

#include <array>
#include <string>
#include <vector>

namespace restante {

namespace {

// Every statement has the same form. `start` turns the cursor and the times into bounds on seq, once. Each
// branch is then one ordered index scan, and the branches are merged lazily, so a poll touches about as many
// rows as it shows, whatever the length of the history.
//
// The constant LIMIT in the branches is for the planner: it knows neither $2 nor the bounds when it makes a
// generic plan, and would assume that a tenth of the workspace's rows is wanted. The executor stops at $2.
//
// Of a row above 4 KiB, bodies and texts stay behind and only tell their size, or 500 rows could be 500 MiB.
// PostgreSQL knows the length of a value without reading it; OFFSET 0 makes it add them up once a row. A
// running sum would fill a page better, and cost half as much again.
//
// There is no ORDER BY around the whole, because it would sort what is sorted already (half of the time of a
// poll of 100 rows): `start` has one row, so the join below keeps the order of the page.
constexpr const char* form = R"(
WITH start AS MATERIALIZED (
    SELECT greatest(cursor.seq, CASE WHEN $3::float8 IS NOT NULL
                                     THEN activity_seq_before($1::uuid, now() - make_interval(secs => $3::float8))
                                END) AS low,
           CASE WHEN $4::timestamptz IS NULL THEN 9223372036854775807
                ELSE activity_seq_before($1::uuid, $4::timestamptz)
           END AS high
      FROM {cursor})
SELECT page.id, page.workspace_id, page.activity_type, page.source_id, page.target_id,
       CASE WHEN page.bytes <= 4096 THEN page.method END, CASE WHEN page.bytes <= 4096 THEN page.summary END,
       page.duration_ms, CASE WHEN page.bytes <= 4096 THEN page.status ELSE '' END,
       CASE WHEN page.bytes <= 4096 THEN page.error_detail END, page.created_at, page.seq,
       CASE WHEN page.bytes <= 4096 THEN page.request_body END,
       CASE WHEN page.bytes <= 4096 THEN page.response_body END,
       CASE WHEN page.bytes <= 4096 THEN page.tool_trace END,
       start.low,
       CASE WHEN page.bytes > 4096 THEN page.bytes END::int8{peer_columns}
  FROM start
  LEFT JOIN LATERAL (
       SELECT few.*,
              coalesce(octet_length(method), 0) + coalesce(octet_length(summary), 0) + octet_length(status) +
              coalesce(octet_length(error_detail), 0) + coalesce(octet_length(request_body::text), 0) +
              coalesce(octet_length(response_body::text), 0) + coalesce(octet_length(tool_trace::text), 0) AS bytes
         FROM (SELECT * FROM ({branches}) AS merged ORDER BY seq {direction} LIMIT $2::int8) AS few
       OFFSET 0) AS page ON true{peer_join})";

constexpr const char* branch = R"((
       SELECT * FROM activity_logs AS a
        WHERE a.workspace_id = $1::uuid AND a.seq > start.low AND a.seq <= start.high{filter}
        ORDER BY a.seq {direction} LIMIT 500))";

constexpr const char* cursor_row =
    "activity_logs AS cursor WHERE cursor.id = $5::uuid AND cursor.workspace_id = $1::uuid";
// Numbers are dense, so nothing is missing after a number when the next one is there or the number is the
// newest. One ahead of the newest is of a database that has been restored from a backup since: its rows are
// others. 0 is no number of a row: it asks for what is there. The head is asked last, when retention has
// removed every row: while a long transaction holds back vacuum, each commit leaves one more dead version of
// it to pass over.
constexpr const char* cursor_number = R"((SELECT $5::int8 AS seq) AS cursor
     WHERE cursor.seq = 0
        OR EXISTS (SELECT FROM activity_logs AS next WHERE next.workspace_id = $1::uuid
                      AND next.seq = least(cursor.seq, 9223372036854775806) + 1)
        OR cursor.seq = (SELECT newest.seq FROM activity_logs AS newest WHERE newest.workspace_id = $1::uuid
                          ORDER BY newest.seq DESC LIMIT 1)
        OR cursor.seq = (SELECT head.seq FROM activity_heads AS head WHERE head.workspace_id = $1::uuid))";

constexpr const char* any_number = "(SELECT $5::int8 AS seq) AS cursor";

// The other side of a row: its sender or its recipient. This join may reorder, so these do sort.
constexpr const char* peer_columns = R"(,
       left(coalesce(peer.name, peer.agent_card->>'name'), 255) AS peer_name,
       left(coalesce(peer.role, peer.agent_card->>'role'), 255) AS peer_role)";
constexpr const char* peer_join = R"(
  LEFT JOIN workspaces AS peer
    ON peer.id = coalesce(nullif(page.source_id, $1::uuid), nullif(page.target_id, $1::uuid))
 ORDER BY page.seq {direction})";

constexpr const char* of_type = " AND a.activity_type = $6::text";
constexpr const char* from_canvas = " AND a.source_id IS NULL";
constexpr const char* from_agent = " AND a.source_id IS NOT NULL";

std::string replaced(std::string text, std::string_view what, std::string_view with)
{
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
    return text;
}

std::vector<std::string> one_for_each_type(const char* source)
{
    std::vector<std::string> filters;
    for (const auto type : activity_types)
        filters.push_back(" AND a.activity_type = '" + std::string(type) + "'" + source);
    return filters;
}

// These are filtered row by row: a query for a peer uses a short index already.
std::string optional_filters(std::string_view type, std::string_view canvas)
{
    std::string filter =
        " AND ({type}::text IS NULL OR a.activity_type = {type}::text)"
        " AND ({canvas}::bool IS NULL OR (a.source_id IS NULL) = {canvas}::bool)";
    return replaced(replaced(filter, "{type}", type), "{canvas}", canvas);
}

std::vector<std::string> filters_of(feed_shape shape)
{
    switch (shape) {
        case feed_shape::everything: return {""};
        case feed_shape::type: return {std::string(of_type) + from_canvas, std::string(of_type) + from_agent};
        case feed_shape::canvas: return one_for_each_type(from_canvas);
        case feed_shape::agent: return one_for_each_type(from_agent);
        case feed_shape::type_canvas: return {std::string(of_type) + from_canvas};
        case feed_shape::type_agent: return {std::string(of_type) + from_agent};
        case feed_shape::peer: {
            const auto rest = optional_filters("$7", "$8");
            return {" AND a.source_id = $6::uuid" + rest,
                    // Rows from the peer to itself are in the first branch.
                    " AND a.target_id = $6::uuid AND a.target_id <> a.workspace_id"
                    " AND a.source_id IS DISTINCT FROM $6::uuid" +
                        rest};
        }
        case feed_shape::self:
            // Most rows of an inbox are addressed to it, so there is no index to find them by.
            return {" AND (a.source_id = $1::uuid OR a.target_id = $1::uuid)" + optional_filters("$6", "$7")};
    }
    return {};
}

const char* cursor_of(feed_start start)
{
    switch (start) {
        case feed_start::after_id: return cursor_row;
        case feed_start::after_seq: return cursor_number;
        case feed_start::newest:
        case feed_start::past_gaps: break;
    }
    return any_number;
}

std::string text_of(feed_start start, feed_shape shape, bool with_peer_info)
{
    std::string branches;
    for (const auto& filter : filters_of(shape)) {
        if (!branches.empty())
            branches += " UNION ALL ";
        branches += replaced(branch, "{filter}", filter);
    }
    std::string text = form;
    text = replaced(text, "{cursor}", cursor_of(start));
    text = replaced(text, "{branches}", branches);
    text = replaced(text, "{peer_columns}", with_peer_info ? peer_columns : "");
    text = replaced(text, "{peer_join}", with_peer_info ? peer_join : "");
    return replaced(text, "{direction}", start == feed_start::newest ? "DESC" : "ASC");
}

constexpr std::array start_names{"newest", "after_id", "after_seq", "past_gaps"};
constexpr std::array shape_names{"everything",  "type",       "canvas", "agent",
                                 "type_canvas", "type_agent", "peer",   "self"};

// The texts of all combinations, built once.
class catalogue {
public:
    catalogue()
    {
        for (std::size_t start = 0; start < start_names.size(); ++start)
            for (std::size_t shape = 0; shape < shape_names.size(); ++shape)
                for (const bool peer : {false, true})
                    add(static_cast<feed_start>(start), static_cast<feed_shape>(shape), peer);
    }

    const statement& get(feed_start start, feed_shape shape, bool with_peer_info) const
    {
        return entries_[place(start, shape, with_peer_info)].made;
    }

private:
    struct entry {
        std::string name;
        std::string text;
        statement made;
    };

    static std::size_t place(feed_start start, feed_shape shape, bool with_peer_info)
    {
        return (static_cast<std::size_t>(start) * shape_names.size() + static_cast<std::size_t>(shape)) * 2 +
               (with_peer_info ? 1 : 0);
    }

    void add(feed_start start, feed_shape shape, bool with_peer_info)
    {
        auto& made = entries_[place(start, shape, with_peer_info)];
        made.name = std::string("feed_") + start_names[static_cast<std::size_t>(start)] + '_' +
                    shape_names[static_cast<std::size_t>(shape)] + (with_peer_info ? "_peers" : "");
        made.text = text_of(start, shape, with_peer_info);
        made.made = {made.name.c_str(), made.text.c_str()};
    }

    std::array<entry, start_names.size() * shape_names.size() * 2> entries_;
};

}  // namespace

const statement& feed_statement(feed_start start, feed_shape shape, bool with_peer_info)
{
    static const catalogue all;
    return all.get(start, shape, with_peer_info);
}

}  // namespace restante
