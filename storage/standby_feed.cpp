#include "storage/standby_feed.hpp"

#include "storage/pq/pipeline.hpp"

namespace restante {

namespace {

#define NEWEST_ROW                                                                                           \
    "(SELECT seq, id, created_at FROM activity_logs WHERE workspace_id = $1::uuid "                          \
    "ORDER BY seq DESC LIMIT 1) AS newest"

const statement newest_after_id{
    "newest_after_id", "SELECT cursor.seq, newest.* FROM activity_logs AS cursor, " NEWEST_ROW
                       " WHERE cursor.id = $2::uuid AND cursor.workspace_id = $1::uuid"};

const statement newest_after_seq{
    "newest_after_seq",
    "SELECT $2::int8, newest.* FROM " NEWEST_ROW
    " WHERE newest.seq = $2::int8 OR EXISTS (SELECT FROM activity_logs AS next "
    "WHERE next.workspace_id = $1::uuid AND next.seq = least($2::int8, 9223372036854775806) + 1)"};

const statement row_by_number{
    "replica_row_by_number",
    "SELECT id, created_at FROM activity_logs WHERE workspace_id = $1::uuid AND seq = $2::int8"};

// 0 is no cursor: it asks for what is there, and what retention has removed may still be there on a standby.
bool may_be_read_elsewhere(const feed_query& query)
{
    const bool has_cursor = query.since_id || (query.since_seq.value_or(0) > 0 && !query.past_gaps);
    return has_cursor && !query.since && !query.before && !query.peer_info;
}

}  // namespace

awaitable<std::optional<feed_page>> standby_feed::read(const feed_query& query)
{
    if (!may_be_read_elsewhere(query))
        co_return std::nullopt;
    if (!standby_.usable()) {
        standby_.count(standby_outcome::skipped);
        co_return std::nullopt;
    }
    const auto newest = co_await ask_primary(query);
    if (!newest)
        co_return std::nullopt;
    if (newest->seq == newest->after) {
        standby_.count(standby_outcome::unneeded);
        co_return feed_page::empty_after(newest->seq);
    }
    const auto session = co_await standby_.begin_read();
    if (!session)
        co_return std::nullopt;
    auto answered = co_await ask_standby(**session, query, *newest);
    standby_.count(answered.outcome);
    co_return std::move(answered.page);
}

awaitable<std::optional<standby_feed::newest_row>> standby_feed::ask_primary(const feed_query& query)
{
    pq::parameters with(query.workspace);
    if (query.since_id)
        with.add(*query.since_id);
    else
        with.add(*query.since_seq);
    const auto& what = query.since_id ? newest_after_id : newest_after_seq;
    const auto rows = co_await primary_.execute(what, with, query.workspace);
    if (!rows || rows->empty())
        co_return std::nullopt;
    const auto newest = (*rows)[0].into<newest_row, std::int64_t, std::int64_t, uuid, timestamp>();
    if (!newest)
        co_return std::nullopt;
    co_return *newest;
}

// The row is looked up before the page, so the page is of a later moment.
awaitable<standby_feed::answer> standby_feed::ask_standby(pq::connection& session, const feed_query& query,
                                                          const newest_row& newest)
{
    const pq::parameters number(query.workspace, newest.seq);
    pq::parameters with;
    const auto& what = page_statement(with, query);
    pq::pipeline work(session);
    work.add(row_by_number, number);
    work.add(what, with);
    auto results = co_await work.run();
    if (!results)
        co_return answer{standby_outcome::failed};
    const auto& row = results->front();
    if (row.empty())
        co_return answer{standby_outcome::behind};
    const auto has = row[0].as<uuid, timestamp>();
    if (!has || *has != std::tuple(newest.id, newest.written_at))
        co_return answer{standby_outcome::wrong};
    if (results->back().empty())  // retention has just removed the cursor
        co_return answer{standby_outcome::ahead};
    feed_page page(std::move(results->back()), query.peer_info, query.max_row_bytes);
    if (page.reaches() > newest.seq)
        co_return answer{standby_outcome::ahead};
    if (const auto wanted = page.leave_room_for_bodies(query.max_bytes); !wanted.empty()) {
        const pq::parameters large(query.workspace, std::span<const std::int64_t>(wanted),
                                   query.max_row_bytes);
        auto bodies = co_await session.execute(read_large_bodies, large);
        if (!bodies)
            co_return answer{standby_outcome::failed};
        page.add_bodies(std::move(*bodies));
    }
    co_return answer{standby_outcome::served, std::move(page)};
}

}  // namespace restante
