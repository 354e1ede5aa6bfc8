#include "storage/pq/session_check.hpp"

#include "storage/pq/connection.hpp"
#include "storage/pq/pipeline.hpp"

#include <algorithm>

namespace restante::pq {

namespace {

// Startup options would cost no statement, but connection poolers refuse them.
const statement open_session{
    "open_session",
    "SELECT pg_backend_pid(), coalesce(current_setting('restante.session', true), ''), "
    "set_config('restante.session', 'taken', false), "
    "(SELECT count(set_config(name, value, false)) FROM unnest($1::text[], $2::text[]) AS s (name, value))"};

// ALTER ROLE and ALTER DATABASE … SET apply to sessions that begin later, so the catalog is asked as well.
// $1 holds the options of the connection string, which take precedence over both. In order of precedence:
// role in database, role, database, all.
//
// How many standbys each commit waits for is the number in FIRST n (…), ANY n (…) or n (…), and else 1. Which
// of them are synchronous is shown to roles with pg_read_all_stats only; others see NULL.
constexpr std::string_view safety_facts =
    "WITH later AS ("
    "SELECT split_part(entry, '=', 1) AS name, lower(split_part(entry, '=', 2)) AS value, "
    "row_number() OVER (PARTITION BY split_part(entry, '=', 1) "
    "ORDER BY setrole <> 0 DESC, setdatabase <> 0 DESC) AS rank "
    "FROM pg_db_role_setting, unnest(setconfig) AS entry "
    "WHERE setrole IN (0, (SELECT oid FROM pg_roles WHERE rolname = session_user)) "
    "AND setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database())) "
    "AND position(split_part(entry, '=', 1) || '=' IN $1::text) = 0), "
    "commits AS (SELECT current_setting('synchronous_commit') AS now, "
    "(SELECT value FROM later WHERE name = 'synchronous_commit' AND rank = 1) AS later, "
    "current_setting('synchronous_standby_names') AS names), "
    "standbys AS (SELECT count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')) AS there, "
    "count(*) FILTER (WHERE sync_state IS NULL) AS hidden FROM pg_stat_replication) "
    "SELECT pg_is_in_recovery(), "
    "current_setting('transaction_read_only')::bool OR coalesce((SELECT value::bool FROM later "
    "WHERE name = 'default_transaction_read_only' AND rank = 1), false), "
    "current_setting('server_encoding'), current_setting('fsync'), current_setting('full_page_writes'), "
    "commits.now = 'off' OR coalesce(commits.later IN ('off', 'false', 'no', '0'), false), "
    "commits.now = 'local' OR coalesce(commits.later = 'local', false), "
    "commits.names, "
    "CASE WHEN commits.names = '' OR pg_is_in_recovery() THEN 0 ELSE "
    "coalesce((regexp_match(lower(commits.names), '^\\s*(?:first|any)?\\s*(\\d+)\\s*\\('))[1]::int8, 1) END, "
    "there, hidden, "
    "CASE WHEN pg_is_in_recovery() THEN 0 ELSE "
    "('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int4 END, ";

std::string safety_text(std::string_view cluster)
{
    return std::string(safety_facts) + std::string(cluster) + " FROM commits, standbys";
}

// Everybody may ask which cluster it is, unless that was revoked; then the whole statement fails.
const std::string with_cluster = safety_text("(SELECT system_identifier FROM pg_control_system())");
const std::string without_cluster = safety_text("0::int8");
const statement read_safety{"read_safety", with_cluster.c_str()};
const statement read_safety_of_unknown{"read_safety_of_unknown", without_cluster.c_str()};
constexpr std::string_view not_allowed = "42501";

const statement& safety_question(const connection& session)
{
    const auto& timelines = session.options().timelines;
    return timelines && !timelines->clusters_are_hidden() ? read_safety : read_safety_of_unknown;
}

// Whether what was asked failed because of the cluster, and is worth another try.
bool gives_up_cluster(const connection& session, const statement& asked)
{
    if (&asked != &read_safety || session.last_sqlstate() != not_allowed)
        return false;
    session.options().timelines->hide_clusters();
    return true;
}

// The second group pins the plans. Our statements are few, prepared, and each designed for one path along one
// index: replanning them for every set of values costs as much as running them, and a plan made while a table
// was small (a sequential or bitmap scan, then a sort) would be kept until long after it has grown.
constexpr std::pair<std::string_view, std::string_view> our_settings[] = {
    {"lock_timeout", "5s"},
    {"idle_in_transaction_session_timeout", "10s"},
    {"default_transaction_isolation", "read committed"},

    {"plan_cache_mode", "force_generic_plan"},
    {"enable_seqscan", "off"},
    {"enable_bitmapscan", "off"},
    {"jit", "off"},
};

// Not for the operator to change. All our tables and functions are in public, whatever other schemas the
// role's own path would put first; and a commit without its standby is known by a warning
// (connection::receive_notice).
constexpr std::pair<std::string_view, std::string_view> fixed_settings[] = {
    {"search_path", "public, pg_temp"},
    {"client_min_messages", "warning"},
};

// What the operator sets in the connection string takes precedence over ours.
bool is_set_in(std::string_view options, std::string_view name)
{
    return options.find(std::string(name) + "=") != std::string_view::npos;
}

void add_settings(pipeline& work, std::string_view options, std::chrono::milliseconds with_limit)
{
    std::vector<std::string_view> names;
    std::vector<std::string_view> values;
    const auto add = [&](std::string_view name, std::string_view value) {
        names.push_back(name);
        values.push_back(value);
    };
    for (const auto& [name, value] : fixed_settings)
        add(name, value);
    const auto limit = std::to_string(with_limit.count());
    if (!is_set_in(options, "statement_timeout"))
        add("statement_timeout", limit);
    for (const auto& [name, value] : our_settings) {
        if (!is_set_in(options, name))
            add(name, value);
    }
    const parameters with(std::span<const std::string_view>{names},
                          std::span<const std::string_view>{values});
    work.add(open_session, with);
}

result<session_facts> read_facts(const result_set& answer)
{
    using view = std::string_view;
    using number = std::int64_t;
    auto values = answer[0]
                      .as<bool, bool, view, view, view, bool, bool, view, number, number, number,
                          std::int32_t, number>();
    if (!values)
        return values.error();
    return std::make_from_tuple<session_facts>(*values);
}

// Remembers the timeline of a primary, and whether it is the newest. A standby that was promoted although nobody
// asked it to write says nothing about the primary.
result<session_verdict> judge(connection& session, const result_set& answer)
{
    auto facts = read_facts(answer);
    if (!facts)
        return facts.error();
    const auto& options = session.options();
    session_demands demands{.synchronous = options.require_synchronous, .role = options.role};
    if (options.role == session_role::standby) {
        demands.foreign = options.timelines && !options.timelines->has_met(facts->cluster);
        return judge_session(*facts, demands);
    }
    const timeline_id timeline{.cluster = facts->cluster, .number = facts->timeline};
    if (timeline.number != 0 && options.timelines)
        demands.replaced = options.timelines->is_replaced(timeline, newest_timeline::clock::now());
    session.met_timeline(timeline);
    return judge_session(*facts, demands);
}

// If it fails, none of the settings has been made, and no mark.
awaitable<result<std::vector<result_set>>> open_and_ask(connection& session, const statement& question)
{
    pipeline work(session);
    add_settings(work, session.operator_options(), session.options().statement_timeout);
    const parameters with(session.operator_options());
    work.add(question, with);
    co_return co_await work.run();
}

error_code refuse_shared(std::string& why)
{
    why =
        "a connection pooler lends one session to several clients: it must work in session mode and reset "
        "sessions between clients";
    return RESTANTE_ERROR(errc::database_unsafe);
}

}  // namespace

awaitable<error_code> begin_session(connection& session, std::string& why)
{
    const auto& question = safety_question(session);
    auto answers = co_await open_and_ask(session, question);
    if (!answers && gives_up_cluster(session, question))
        answers = co_await open_and_ask(session, read_safety_of_unknown);
    // In a session that is lent out without a reset, our statement is prepared already.
    if (!answers && session.last_sqlstate() == "42P05")
        co_return refuse_shared(why);
    if (!answers) {
        why = session.last_message();
        co_return answers.error();
    }
    const auto pid = (*answers)[0][0][0].as<std::int32_t>();
    const auto mark = (*answers)[0][0][1].as<std::string_view>();
    auto verdict = judge(session, (*answers)[1]);
    if (!pid || !mark || !verdict)
        co_return RESTANTE_ERROR(errc::wrong_column_type);
    if (!mark->empty())
        co_return refuse_shared(why);
    session.begun(*pid, std::move(*verdict));
    co_return error_code{};
}

awaitable<result<session_verdict>> check_session(connection& session)
{
    const parameters with(session.operator_options());
    const auto& question = safety_question(session);
    auto answer = co_await session.execute(question, with);
    if (!answer && gives_up_cluster(session, question))
        answer = co_await session.execute(read_safety_of_unknown, with);
    if (!answer)
        co_return answer.error();
    co_return judge(session, *answer);
}

}  // namespace restante::pq
