#include "server/commands/sweep.hpp"

#include "server/app/sweep_policy.hpp"
#include "server/commands/database_session.hpp"
#include "sweeper/sweeper.hpp"

#include <cstdlib>
#include <iostream>

namespace restante {

namespace {

std::string explain(const error_code& failure)
{
    if (failure == errc::schema_missing)
        return "the database has no schema or an old one; run `restante migrate`";
    return failure.message();
}

awaitable<int> sweep_database(const std::string& conninfo, const settings& config)
{
    const executor ex = co_await asio::this_coro::executor;
    pq::connection_pool db(
        ex, {.connect = {.conninfo = conninfo}, .connections = 1, .wait_limit = std::chrono::seconds(10)});
    task_group tasks(ex);
    metric_set metrics;
    sweeper once(db, metrics, policy_from(config));
    const auto report = co_await once.sweep_once(tasks);
    std::cout << "acked " << report.files.acked << "\nexpired " << report.files.expired << "\nrequests "
              << report.requests << "\nactivity " << report.activity << "\nreceipts " << report.receipts
              << '\n';
    if (!report.failure)
        co_return EXIT_SUCCESS;
    std::cerr << "restante: the sweep did not finish: " << explain(report.failure) << '\n';
    co_return EXIT_FAILURE;
}

}  // namespace

int run_sweep(const command& asked)
{
    return with_database(asked.config,
                         [&](const std::string& conninfo) { return sweep_database(conninfo, asked.config); });
}

}  // namespace restante
