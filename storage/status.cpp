#include "storage/status.hpp"

#include "storage/pq/transaction.hpp"
#include "storage/status_rows.hpp"

namespace restante {

namespace {

const statement read_workspaces{
    "status_workspaces",
    "SELECT count(*) FILTER (WHERE removed_at IS NULL AND delivery_mode = 'poll'), "
    "count(*) FILTER (WHERE removed_at IS NULL AND delivery_mode IS DISTINCT FROM 'poll'), "
    "count(*) FILTER (WHERE removed_at IS NOT NULL), count(*) FILTER (WHERE p.status = 'awaiting_agent'), "
    "count(*) FILTER (WHERE p.status = 'online'), count(*) FILTER (WHERE p.status = 'degraded'), "
    "count(*) FILTER (WHERE p.status = 'offline') "
    "FROM workspaces LEFT JOIN workspace_presence p ON workspace_id = id AND removed_at IS NULL"};

const statement read_leaving{
    "status_leaving",
    "SELECT "
    "(SELECT count(*) FROM (SELECT FROM pending_uploads WHERE acked_at IS NOT NULL LIMIT $1::int8) AS acked), "
    "(SELECT count(*) FROM (SELECT FROM pending_uploads WHERE acked_at IS NULL AND expires_at <= now() "
    "ORDER BY expires_at LIMIT $1::int8) AS expired)"};

result<workspace_counts> as_workspaces(const pq::row& row)
{
    using number = std::int64_t;
    const auto counts = row.as<number, number, number, number, number, number, number>();
    if (!counts)
        return counts.error();
    const auto [poll, push, removed, awaited, online, degraded, offline] = *counts;
    return workspace_counts{poll, push, removed, {awaited, online, degraded, offline}};
}

result<status_report> as_report(const std::vector<pq::result_set>& answers, const unacked_uploads& waiting,
                                const std::optional<fullest_workspace>& fullest)
{
    auto database = as_database(answers[0]);
    auto workspaces = as_workspaces(answers[1][0]);
    auto leaving = answers[2][0].into<leaving_counts, std::int64_t, std::int64_t>();
    auto sweep = as_sweep(answers[3]);
    auto replicas = as_replicas(answers[4]);
    for (const auto& ec :
         {database.error(), workspaces.error(), leaving.error(), sweep.error(), replicas.error()})
        if (ec)
            return ec;
    return status_report{std::move(*database), *workspaces,         waiting, *leaving, fullest,
                         std::move(*sweep),    std::move(*replicas)};
}

}  // namespace

awaitable<result<status_report>> read_status(pq::connection_pool& db, quota_limits defaults)
{
    const auto waiting = co_await read_unacked_uploads(db);
    if (!waiting)
        co_return waiting.error();
    quota_store quotas(db, defaults);
    // A question with a time limit of its own; everything else is worth telling without the answer.
    const auto asked = co_await quotas.fullest();
    if (!asked && asked.error() != errc::database_timeout)
        co_return asked.error();
    const auto fullest = asked ? *asked : std::nullopt;
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
    co_return as_report(*answers, *waiting, *fullest);
}

}  // namespace restante
