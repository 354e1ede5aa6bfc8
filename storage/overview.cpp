#include "storage/overview.hpp"

#include "storage/pq/transaction.hpp"
#include "storage/status_rows.hpp"

namespace restante {

namespace {

const statement limit_time{"overview_limit", "SELECT set_config('statement_timeout', '2s', true)"};

const statement count_modes{"overview_modes",
                            "SELECT count(*) FILTER (WHERE delivery_mode = 'poll'),"
                            "       count(*) FILTER (WHERE delivery_mode IS DISTINCT FROM 'poll')"
                            "  FROM (SELECT delivery_mode FROM workspaces WHERE removed_at IS NULL"
                            "         ORDER BY created_at, id LIMIT $1::int8) AS counted"};

const statement count_agents{
    "overview_agents",
    "SELECT count(*) FILTER (WHERE status = 'awaiting_agent'), count(*) FILTER (WHERE status = 'online'),"
    "       count(*) FILTER (WHERE status = 'degraded'), count(*) FILTER (WHERE status = 'offline')"
    "  FROM (SELECT status FROM workspace_presence LIMIT $1::int8) AS counted"};

result<overview_report> as_overview(const std::vector<pq::result_set>& answers,
                                    const unacked_uploads& waiting)
{
    using number = std::int64_t;
    auto database = as_database(answers[1]);
    const auto modes = answers[2][0].as<number, number>();
    const auto agents = answers[3][0].into<presence_counts, number, number, number, number>();
    auto sweep = as_sweep(answers[4]);
    auto replicas = as_replicas(answers[5]);
    for (const auto& ec : {database.error(), modes.error(), agents.error(), sweep.error(), replicas.error()})
        if (ec)
            return ec;
    const auto [poll, push] = *modes;
    return overview_report{
        std::move(*database), {poll, push, *agents}, waiting, std::move(*sweep), std::move(*replicas)};
}

}  // namespace

awaitable<result<overview_report>> read_overview(pq::connection_pool& db)
{
    const auto waiting = co_await read_unacked_uploads(db);
    if (!waiting)
        co_return waiting.error();
    auto tx = co_await db.begin();
    if (!tx)
        co_return tx.error();
    const pq::parameters none{};
    const pq::parameters most(bounded_workspaces::most);
    const pq::parameters prefix(replica_prefix);
    tx->queue(limit_time, none);
    tx->queue(read_database, none);
    tx->queue(count_modes, most);
    tx->queue(count_agents, most);
    tx->queue(read_sweep, none);
    tx->queue(read_replicas, prefix);
    const auto answers = co_await tx->commit();
    if (!answers)
        co_return answers.error();
    co_return as_overview(*answers, *waiting);
}

}  // namespace restante
