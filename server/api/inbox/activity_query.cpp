#include "server/api/inbox/activity_query.hpp"

#include "core/decimal.hpp"
#include "http/message/field_grammar.hpp"
#include "http/message/query_reader.hpp"
#include "server/api/common/wait_parameter.hpp"

namespace restante {

namespace {

constexpr std::uint64_t max_since_secs = 2'592'000;  // 30 days

std::optional<activity_source> parse_source(std::string_view text)
{
    if (text == "canvas")
        return activity_source::canvas;
    if (text == "agent")
        return activity_source::agent;
    return std::nullopt;
}

std::optional<std::chrono::seconds> parse_since_secs(std::string_view text)
{
    const auto seconds = parse_capped(text, max_since_secs);
    if (!seconds || *seconds == 0)
        return std::nullopt;
    return std::chrono::seconds(*seconds);
}

// A number beyond the largest is valid all the same; no row is after it.
std::optional<std::int64_t> parse_seq(std::string_view text)
{
    const auto number = parse_capped(text, std::numeric_limits<std::int64_t>::max());
    return number ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

// A list; what is not known in it is for other servers or later ones.
std::optional<bool> includes_peer_info(std::string_view list)
{
    return list_contains(list, "peer_info");
}

}  // namespace

boost::system::result<activity_request, refusal> read_activity_query(const uuid& workspace,
                                                                     const query_params& query)
{
    query_reader read(query);
    activity_request out;
    auto& feed = out.feed;
    feed.workspace = workspace;
    feed.limit = read.limit(feed_query::default_limit, feed_query::max_limit);
    if (const auto type = read.text("type"))
        feed.type = std::string(*type);
    feed.source = read.value("source", "canvas or agent", parse_source).value_or(activity_source::any);
    feed.peer = read.value("peer_id", "a UUID", parse_uuid);
    feed.since = read.value("since_secs", "a number of seconds above 0", parse_since_secs);
    feed.before = read.value("before_ts", "a time in RFC 3339", parse_rfc3339);
    feed.since_id = read.value("since_id", "a UUID", parse_uuid);
    feed.since_seq = read.value("since_seq", "a number", parse_seq);
    feed.peer_info = read.value("include", "a list", includes_peer_info).value_or(false);
    const auto wait = read.value("wait", "a number of seconds", parse_wait);
    if (feed.since_id && feed.since_seq)
        read.refuse("since_id and since_seq exclude each other");
    if (read.refused())
        return *read.refused();

    // Without a cursor there is nothing to be after, so there is nothing to wait for.
    if (wait && (feed.since_id || feed.since_seq))
        out.wait = *wait;
    return out;
}

}  // namespace restante
