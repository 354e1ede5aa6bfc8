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
const statement read_safety{
    "read_safety",
    "WITH later AS ("
    "SELECT split_part(entry, '=', 1) AS name, lower(split_part(entry, '=', 2)) AS value, "
    "row_number() OVER (PARTITION BY split_part(entry, '=', 1) "
    "ORDER BY setrole <> 0 DESC, setdatabase <> 0 DESC) AS rank "
    "FROM pg_db_role_setting, unnest(setconfig) AS entry "
    "WHERE setrole IN (0, (SELECT oid FROM pg_roles WHERE rolname = session_user)) "
    "AND setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database())) "
    "AND position(split_part(entry, '=', 1) || '=' IN $1::text) = 0) "
    "SELECT pg_is_in_recovery(), "
    "current_setting('transaction_read_only')::bool OR coalesce((SELECT value::bool FROM later "
    "WHERE name = 'default_transaction_read_only' AND rank = 1), false), "
    "current_setting('server_encoding'), current_setting('fsync'), current_setting('full_page_writes'), "
    "current_setting('synchronous_commit') = 'off' OR coalesce((SELECT value IN ('off', 'false', 'no', '0') "
    "FROM later WHERE name = 'synchronous_commit' AND rank = 1), false)"};

// The second group pins the plans. Our statements are few, prepared, and each designed for one path along one
// index: replanning them for every set of values costs as much as running them, and a plan made while a table
// was small (a sequential or bitmap scan, then a sort) would be kept until long after it has grown.
constexpr std::pair<std::string_view, std::string_view> our_settings[] = {
    {"statement_timeout", "30s"},
    {"lock_timeout", "5s"},
    {"idle_in_transaction_session_timeout", "10s"},
    {"default_transaction_isolation", "read committed"},

    {"plan_cache_mode", "force_generic_plan"},
    {"enable_seqscan", "off"},
    {"enable_bitmapscan", "off"},
    {"jit", "off"},
};

// All our tables and functions are in public, whatever other schemas the role's own path would put first.
constexpr std::pair<std::string_view, std::string_view> our_path{"search_path", "public, pg_temp"};

// What the operator sets in the connection string takes precedence over ours.
bool is_set_in(std::string_view options, std::string_view name)
{
    return options.find(std::string(name) + "=") != std::string_view::npos;
}

void add_settings(pipeline& work, std::string_view options)
{
    std::vector<std::string_view> names{our_path.first};
    std::vector<std::string_view> values{our_path.second};
    for (const auto& [name, value] : our_settings) {
        if (is_set_in(options, name))
            continue;
        names.push_back(name);
        values.push_back(value);
    }
    const parameters with(std::span<const std::string_view>{names},
                          std::span<const std::string_view>{values});
    work.add(open_session, with);
}

std::string find_fault(bool standby, bool read_only, std::string_view encoding, std::string_view fsync,
                       std::string_view full_pages, bool asynchronous)
{
    if (standby)
        return "the database is a standby: it takes no writes";
    if (read_only)
        return "the database is read-only";
    if (encoding != "UTF8")
        return "the database's encoding is not UTF8";
    if (fsync != "on")
        return "fsync is off: a crash would lose confirmed uploads";
    if (full_pages != "on")
        return "full_page_writes is off: a crash could corrupt confirmed uploads";
    if (asynchronous)
        return "synchronous_commit is off: a crash would lose confirmed uploads";
    return {};
}

result<std::string> read_fault(const result_set& answer)
{
    using view = std::string_view;
    auto values = answer[0].as<bool, bool, view, view, view, bool>();
    if (!values)
        return values.error();
    return std::apply(find_fault, *values);
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
    pipeline work(session);
    add_settings(work, session.operator_options());
    const parameters with(session.operator_options());
    work.add(read_safety, with);
    auto answers = co_await work.run();
    // In a session that is lent out without a reset, our statement is prepared already.
    if (!answers && session.last_sqlstate() == "42P05")
        co_return refuse_shared(why);
    if (!answers) {
        why = session.last_message();
        co_return answers.error();
    }
    const auto pid = (*answers)[0][0][0].as<std::int32_t>();
    const auto mark = (*answers)[0][0][1].as<std::string_view>();
    auto fault = read_fault((*answers)[1]);
    if (!pid || !mark || !fault)
        co_return RESTANTE_ERROR(errc::wrong_column_type);
    if (!mark->empty())
        co_return refuse_shared(why);
    session.begun(*pid, std::move(*fault));
    co_return error_code{};
}

awaitable<error_code> check_session(connection& session, std::string& why)
{
    const parameters with(session.operator_options());
    auto answer = co_await session.execute(read_safety, with);
    if (!answer)
        co_return answer.error();
    auto fault = read_fault(*answer);
    if (!fault)
        co_return fault.error();
    why = std::move(*fault);
    if (why.empty())
        co_return error_code{};
    co_return RESTANTE_ERROR(errc::database_unsafe);
}

}  // namespace restante::pq
