#include "storage/activity_feed.hpp"

#include "storage/standby_feed.hpp"

namespace restante {

namespace {

// The newest version of a head is the last of its key in the index: publish_counted says why that matters.
const statement read_heads{
    "feed_heads",
    "SELECT head.workspace_id, head.seq FROM unnest($1::uuid[]) AS wanted (id), LATERAL ("
    "SELECT workspace_id, seq FROM activity_heads WHERE workspace_id >= wanted.id AND workspace_id <= wanted.id "
    "ORDER BY workspace_id DESC LIMIT 1) AS head"};

}  // namespace

awaitable<result<feed_page>> activity_feed::read(const feed_query& query)
{
    std::optional<feed_page> page;
    if (elsewhere_)
        page = co_await elsewhere_->read(query);
    if (!page) {
        auto read = co_await read_here(query);
        if (!read)
            co_return read.error();
        page = std::move(*read);
    }
    if (!page->charge_to({memory_, memory_use::page, query.workspace}))
        co_return RESTANTE_ERROR(errc::no_room);
    co_return std::move(*page);
}

awaitable<result<feed_page>> activity_feed::read_here(const feed_query& query)
{
    pq::parameters with;
    const auto& what = page_statement(with, query);
    auto rows = co_await db_.execute(what, with, query.workspace);
    if (!rows)
        co_return rows.error();
    if (rows->empty())
        co_return RESTANTE_ERROR(errc::cursor_gone);
    feed_page page(std::move(*rows), query.peer_info, query.max_row_bytes);
    if (auto ec = co_await bring_large_bodies(query, page))
        co_return ec;
    co_return page;
}

awaitable<error_code> activity_feed::bring_large_bodies(const feed_query& query, feed_page& page)
{
    const auto wanted = page.leave_room_for_bodies(query.max_bytes);
    if (wanted.empty())
        co_return error_code{};
    const pq::parameters with(query.workspace, std::span<const std::int64_t>(wanted), query.max_row_bytes);
    auto bodies = co_await db_.execute(read_large_bodies, with, query.workspace);
    if (!bodies)
        co_return bodies.error();
    page.add_bodies(std::move(*bodies));
    co_return error_code{};
}

awaitable<result<std::vector<activity_head>>> activity_feed::heads(std::span<const uuid> workspaces)
{
    const pq::parameters with(workspaces);
    auto rows = co_await db_.execute(read_heads, with);
    if (!rows)
        co_return rows.error();
    co_return rows->all<activity_head, uuid, std::int64_t>();
}

}  // namespace restante
