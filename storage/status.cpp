#include "storage/status.hpp"

#include "storage/pq/transaction.hpp"

namespace restante {

namespace {

const statement read_database{"status_database",
                              "SELECT current_database()::text, current_setting('server_version'), "
                              "pg_database_size(current_database()), "
                              "(SELECT coalesce(max(number), 0)::int8 FROM schema_migrations), now()"};

const statement read_workspaces{
    "status_workspaces",
    "SELECT count(*) FILTER (WHERE removed_at IS NULL AND delivery_mode = 'poll'), "
    "count(*) FILTER (WHERE removed_at IS NULL AND delivery_mode IS DISTINCT FROM 'poll'), "
    "count(*) FILTER (WHERE removed_at IS NOT NULL) FROM workspaces"};

const statement read_leaving{
    "status_leaving",
    "SELECT "
    "(SELECT count(*) FROM (SELECT FROM pending_uploads WHERE acked_at IS NOT NULL LIMIT $1::int8) AS acked), "
    "(SELECT count(*) FROM (SELECT FROM pending_uploads WHERE acked_at IS NULL AND expires_at <= now() "
    "ORDER BY expires_at LIMIT $1::int8) AS expired)"};

const statement read_sweep{
    "status_sweep",
    "SELECT last_started_at, last_finished_at, last_acked, last_expired, last_error FROM sweeper_state"};

// Roles that are not members of pg_read_all_stats do not see the names of other roles' sessions.
const statement read_replicas{
    "status_replicas",
    "SELECT substr(application_name, length($1::text) + 1), coalesce(host(client_addr), 'local'), count(*), "
    "min(backend_start) FROM pg_stat_activity "
    "WHERE datname = current_database() AND starts_with(application_name, $1::text) "
    "GROUP BY 1, 2 ORDER BY 1, 2"};

result<std::vector<replica>> as_replicas(const pq::result_set& rows)
{
    return rows.all<replica, std::string, std::string, std::int64_t, timestamp>();
}

result<status_report> as_report(const std::vector<pq::result_set>& answers, const unacked_uploads& waiting)
{
    auto database =
        answers[0][0].into<database_facts, std::string, std::string, std::int64_t, std::int64_t, timestamp>();
    auto workspaces = answers[1][0].into<workspace_counts, std::int64_t, std::int64_t, std::int64_t>();
    auto leaving = answers[2][0].into<leaving_counts, std::int64_t, std::int64_t>();
    auto sweep = answers[3][0]
                     .into<last_sweep, std::optional<timestamp>, std::optional<timestamp>, std::int64_t,
                           std::int64_t, std::optional<std::string>>();
    auto replicas = as_replicas(answers[4]);
    for (const auto& ec :
         {database.error(), workspaces.error(), leaving.error(), sweep.error(), replicas.error()})
        if (ec)
            return ec;
    return status_report{std::move(*database), *workspaces,         waiting, *leaving,
                         std::move(*sweep),    std::move(*replicas)};
}

}  // namespace

awaitable<result<status_report>> read_status(pq::connection_pool& db)
{
    const auto waiting = co_await read_unacked_uploads(db);
    if (!waiting)
        co_return waiting.error();
    auto tx = co_await db.begin();
    if (!tx)
        co_return tx.error();
    const pq::parameters none{};
    const pq::parameters limit(leaving_counts::most);
    const pq::parameters prefix(replica_prefix);
    tx->queue(read_database, none);
    tx->queue(read_workspaces, none);
    tx->queue(read_leaving, limit);
    tx->queue(read_sweep, none);
    tx->queue(read_replicas, prefix);
    const auto answers = co_await tx->commit();
    if (!answers)
        co_return answers.error();
    co_return as_report(*answers, *waiting);
}

}  // namespace restante
