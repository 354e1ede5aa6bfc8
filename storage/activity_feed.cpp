#include "storage/activity_feed.hpp"

#include "storage/feed_statements.hpp"

namespace restante {

namespace {

const statement read_heads{"feed_heads",
                           "SELECT workspace_id, seq FROM activity_heads WHERE workspace_id = ANY ($1::uuid[])"};

feed_start start_of(const feed_query& query)
{
    if (query.since_id)
        return feed_start::after_id;
    return query.since_seq ? feed_start::after_seq : feed_start::newest;
}

feed_shape shape_of(const feed_query& query)
{
    if (query.peer)
        return *query.peer == query.workspace ? feed_shape::self : feed_shape::peer;
    switch (query.source) {
        case activity_source::canvas:
            return query.type ? feed_shape::type_canvas : feed_shape::canvas;
        case activity_source::agent:
            return query.type ? feed_shape::type_agent : feed_shape::agent;
        case activity_source::any:
            break;
    }
    return query.type ? feed_shape::type : feed_shape::everything;
}

// In the order that feed_statement() names.
void add_parameters(pq::parameters& to, const feed_query& query, feed_shape shape)
{
    to.add(query.workspace);
    to.add(std::int64_t{query.limit});
    if (query.since)
        to.add(static_cast<double>(query.since->count()));
    else
        to.add(std::nullopt);
    to.add(query.before);
    if (query.since_id)
        to.add(*query.since_id);
    else
        to.add(query.since_seq.value_or(0));

    if (!query.peer) {
        if (query.type)
            to.add(*query.type);
        return;
    }
    if (shape == feed_shape::peer)
        to.add(*query.peer);
    to.add(query.type);
    if (query.source == activity_source::any)
        to.add(std::nullopt);
    else
        to.add(query.source == activity_source::canvas);
}

}  // namespace

feed_page::feed_page(pq::result_set rows, bool with_peer_info)
    // Nothing to show is one row of NULLs, so that an unknown cursor can be told from it.
    : rows_(std::move(rows)),
      with_peer_info_(with_peer_info),
      size_(rows_.empty() || rows_[0][0].is_null() ? 0 : rows_.size())
{
}

result<feed_row> feed_page::operator[](int index) const
{
    using text = std::string_view;
    const auto row = rows_[index];
    auto made = row.into<feed_row, uuid, uuid, text, std::optional<uuid>, std::optional<uuid>, std::optional<text>,
                         std::optional<text>, std::optional<std::int64_t>, text, std::optional<text>, timestamp,
                         std::int64_t, std::optional<text>, std::optional<text>, std::optional<text>>();
    if (!made || !with_peer_info_)
        return made;
    const auto name = row[15].as<std::optional<text>>();
    const auto role = row[16].as<std::optional<text>>();
    if (!name || !role)
        return !name ? name.error() : role.error();
    made->peer_name = *name;
    made->peer_role = *role;
    return made;
}

awaitable<result<feed_page>> activity_feed::read(const feed_query& query)
{
    const auto shape = shape_of(query);
    pq::parameters with;
    add_parameters(with, query, shape);
    const auto& what = feed_statement(start_of(query), shape, query.peer_info);
    auto rows = co_await db_.execute(what, with);
    if (!rows)
        co_return rows.error();
    if (rows->empty())
        co_return RESTANTE_ERROR(errc::cursor_gone);
    co_return feed_page(std::move(*rows), query.peer_info);
}

awaitable<result<std::vector<activity_head>>> activity_feed::heads(std::span<const uuid> workspaces)
{
    const pq::parameters with(workspaces);
    auto rows = co_await db_.execute(read_heads, with);
    if (!rows)
        co_return rows.error();
    std::vector<activity_head> heads;
    heads.reserve(static_cast<std::size_t>(rows->size()));
    for (int i = 0; i < rows->size(); ++i) {
        auto head = (*rows)[i].into<activity_head, uuid, std::int64_t>();
        if (!head)
            co_return head.error();
        heads.push_back(*head);
    }
    co_return heads;
}

}  // namespace restante
