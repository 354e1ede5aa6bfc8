#include "storage/feed_query.hpp"

#include "storage/feed_statements.hpp"

namespace restante {

namespace {

feed_start start_of(const feed_query& query)
{
    if (query.since_id)
        return feed_start::after_id;
    if (!query.since_seq)
        return feed_start::newest;
    return query.past_gaps ? feed_start::past_gaps : feed_start::after_seq;
}

feed_shape shape_of(const feed_query& query)
{
    if (query.peer)
        return *query.peer == query.workspace ? feed_shape::self : feed_shape::peer;
    switch (query.source) {
        case activity_source::canvas: return query.type ? feed_shape::type_canvas : feed_shape::canvas;
        case activity_source::agent: return query.type ? feed_shape::type_agent : feed_shape::agent;
        case activity_source::any: break;
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

const statement read_large_bodies{
    "feed_large_bodies",
    "SELECT seq, method, summary, status, error_detail, CASE WHEN small THEN request_body END, "
    "CASE WHEN small THEN response_body END, CASE WHEN small THEN tool_trace END "
    "FROM (SELECT *, coalesce(octet_length(method), 0) + coalesce(octet_length(summary), 0) + "
    "octet_length(status) + coalesce(octet_length(error_detail), 0) + "
    "coalesce(octet_length(request_body::text), 0) + coalesce(octet_length(response_body::text), 0) + "
    "coalesce(octet_length(tool_trace::text), 0) <= $3::int8 AS small "
    "FROM activity_logs WHERE workspace_id = $1::uuid AND seq = ANY ($2::int8[]) OFFSET 0) AS wanted "
    "ORDER BY seq"};

const statement& page_statement(pq::parameters& with, const feed_query& query)
{
    const auto shape = shape_of(query);
    add_parameters(with, query, shape);
    return feed_statement(start_of(query), shape, query.peer_info);
}

}  // namespace restante
