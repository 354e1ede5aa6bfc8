#include "storage/waiting_list.hpp"

#include "storage/pq/transaction.hpp"

#include <limits>

namespace restante {

namespace {

// In one step, so that a step takes some tens of milliseconds at most.
constexpr std::int64_t most_workspaces = 500;
constexpr std::int64_t most_files = 50'000;

const statement limit_time{"waiting_limit", "SELECT set_config('statement_timeout', '2s', true)"};
const statement refresh_list{"waiting_refresh", "SELECT refresh_waiting_list($1::int8, $2::int8)::text"};
const statement read_walk{"waiting_walk", "SELECT finished_at FROM waiting_list_walk"};

// The row with this id, if there is one. OFFSET 0 keeps it a lookup for each workspace of the page:
// PostgreSQL does not know how few they are, and would rather join all of a table.
std::string lookup(const std::string& what, const std::string& table, const std::string& where)
{
    return "LATERAL (SELECT " + what + " FROM " + table + " WHERE " + where + " OFFSET 0)";
}

const std::string what_waits =
    " LEFT JOIN " + lookup("*", "waiting_list", "workspace_id = w.id") + " AS l ON true";

std::string columns(const std::string& from)
{
    return "SELECT w.id, coalesce(w.name, ''), coalesce(w.delivery_mode, ''), coalesce(p.status, w.status),"
           "       coalesce(l.files, 0), coalesce(l.bytes, 0), l.oldest_at, coalesce(l.estimated, false), p.last_seen_at,"
           "       h.max_waiting_bytes, h.max_waiting_files FROM " +
           from + " LEFT JOIN " +
           lookup("status, last_seen_at", "workspace_presence", "workspace_id = w.id") +
           " AS p ON true LEFT JOIN " +
           lookup("max_waiting_bytes, max_waiting_files", "activity_heads", "workspace_id = w.id") +
           " AS h ON true";
}

// Workspaces that something waits for, along an index of the list from $1 (rank) and $2 (id) on, up to $3;
// behind them the others by id, after $4; $5 in all. Plans are made for all values at once (see
// session_check.cpp), so where a page begins must be a condition of the index whatever the values are: an OR
// with a parameter would read and drop everything before the page.
std::string by_rank(const std::string& is_after, const std::string& order)
{
    const auto not_removed = lookup("*", "workspaces", "id = l.workspace_id AND removed_at IS NULL");
    return "WITH listed AS MATERIALIZED (SELECT l.* FROM waiting_list l CROSS JOIN " + not_removed +
           " AS w WHERE " + is_after + " ORDER BY " + order +
           " LIMIT $3::int4)"
           " SELECT * FROM (" +
           columns("listed l CROSS JOIN " + not_removed + " AS w") + " ORDER BY " + order +
           ") AS waiting UNION ALL "
           "SELECT * FROM (" +
           columns("workspaces w" + what_waits) +
           " WHERE w.removed_at IS NULL AND l.workspace_id IS NULL AND w.id > $4::uuid"
           "   AND (SELECT count(*) FROM listed) < $5::int4"
           " ORDER BY w.id LIMIT $5::int4) AS others LIMIT $5::int4";
}

std::string by_name(const std::string& is_after)
{
    return columns("workspaces w" + what_waits) + " WHERE w.removed_at IS NULL" + is_after +
           " ORDER BY lower(coalesce(w.name, '')), w.id LIMIT $1::int4";
}

const std::string oldest_text =
    by_rank("(l.oldest_at, l.workspace_id) > (to_timestamp(0) + $1::int8 * interval '1 us', $2::uuid)",
            "l.oldest_at, l.workspace_id");
const std::string bytes_text =
    by_rank("l.bytes <= $1::int8 AND (l.bytes < $1::int8 OR l.workspace_id > $2::uuid)",
            "l.bytes DESC, l.workspace_id");
const std::string first_names_text = by_name("");
const std::string name_text = by_name(
    " AND (lower(coalesce(w.name, '')), w.id) >"
    "  (SELECT lower(coalesce(b.name, '')), b.id FROM workspaces b WHERE b.id = $2::uuid)");

const statement page_by_oldest{"waiting_by_oldest", oldest_text.c_str()};
const statement page_by_bytes{"waiting_by_bytes", bytes_text.c_str()};
const statement first_page_by_name{"waiting_by_name_first", first_names_text.c_str()};
const statement page_by_name{"waiting_by_name", name_text.c_str()};

// What comes before all others in its order; files are not older than 1970.
constexpr waiting_place first_by_oldest{.rank = 0};
constexpr waiting_place first_by_bytes{.rank = std::numeric_limits<std::int64_t>::max()};

result<std::vector<waiting_workspace>> read_page(const result<pq::result_set>& rows)
{
    if (!rows)
        return rows.error();
    using text = std::string;
    using moment = std::optional<timestamp>;
    using amount = std::optional<std::int64_t>;
    return rows->all<waiting_workspace, uuid, text, text, text, std::int64_t, std::int64_t, moment, bool,
                     moment, amount, amount>();
}

}  // namespace

waiting_place waiting_workspace::place(waiting_order order) const
{
    if (order == waiting_order::name || !oldest_at)
        return {std::nullopt, id};
    const auto age = oldest_at->time_since_epoch();
    return {order == waiting_order::bytes ? bytes : std::int64_t{age.count()}, id};
}

awaitable<result<void>> waiting_list::refresh()
{
    auto tx = co_await db_.begin();
    if (!tx)
        co_return tx.error();
    const pq::parameters none{};
    const pq::parameters most(most_workspaces, most_files);
    tx->queue(limit_time, none);
    tx->queue(refresh_list, most);
    const auto done = co_await tx->commit();
    if (!done)
        co_return done.error();
    co_return result<void>();
}

awaitable<result<std::vector<waiting_workspace>>> waiting_list::page(waiting_order order,
                                                                     std::optional<waiting_place> after,
                                                                     int limit)
{
    if (order == waiting_order::name && !after) {
        const pq::parameters first(std::int32_t{limit});
        const auto rows = co_await db_.execute(first_page_by_name, first);
        co_return read_page(rows);
    }
    if (order == waiting_order::name) {
        const pq::parameters with(std::int32_t{limit}, after->id);
        const auto rows = co_await db_.execute(page_by_name, with);
        co_return read_page(rows);
    }
    const bool by_bytes = order == waiting_order::bytes;
    const auto place = after.value_or(by_bytes ? first_by_bytes : first_by_oldest);
    // A page that begins among the others has nothing of the list.
    const std::int32_t listed = place.rank ? limit : 0;
    const uuid others_after = place.rank ? uuid{} : place.id;
    const pq::parameters with(place.rank.value_or(0), place.id, listed, others_after, std::int32_t{limit});
    const auto rows = co_await db_.execute(by_bytes ? page_by_bytes : page_by_oldest, with);
    co_return read_page(rows);
}

awaitable<result<std::optional<timestamp>>> waiting_list::counted_at()
{
    const auto rows = co_await db_.execute(read_walk);
    if (!rows)
        co_return rows.error();
    if (rows->empty())
        co_return std::optional<timestamp>{};
    co_return (*rows)[0][0].as<std::optional<timestamp>>();
}

}  // namespace restante
