#include "server/commands/stores.hpp"

#include "server/app/quota_limits.hpp"
#include "server/commands/database_session.hpp"

#include <cstdlib>
#include <iostream>

namespace restante {

namespace {

std::string explanation(const error_code& ec, const pq::pool_status& database)
{
    if (ec == errc::workspace_not_found)
        return "there is no such workspace, or it was removed";
    if (ec == errc::workspace_removed)
        return "this workspace was removed and cannot come back";
    if (ec == errc::not_found)
        return "this workspace has no such token";
    if (ec == errc::grant_not_found)
        return "this workspace has no such upload grant";
    if (ec == errc::too_many_tokens)
        return "this workspace has too many live ones; revoke some first";
    if (ec == errc::schema_missing)
        return "the database has no schema yet; run `restante migrate`";
    if ((ec == errc::database_unavailable || ec == errc::database_unsafe) && !database.last_error.empty())
        return "the database cannot be used: " + database.last_error;
    return ec.message();
}

awaitable<int> run_work(const std::string& conninfo, quota_limits defaults,
                        const std::function<awaitable<result<void>>(command_stores)>& work)
{
    const executor ex = co_await asio::this_coro::executor;
    pq::connection_pool pool(
        ex, {.connect = {.conninfo = conninfo}, .connections = 1, .wait_limit = std::chrono::seconds(10)});
    workspace_store workspaces(pool);
    token_store tokens(pool);
    quota_store quotas(pool, defaults);
    const auto done = co_await work({workspaces, tokens, quotas});
    if (done)
        co_return EXIT_SUCCESS;
    std::cerr << "restante: " << explanation(done.error(), pool.status()) << '\n';
    co_return EXIT_FAILURE;
}

}  // namespace

int with_stores(const settings& config, std::function<awaitable<result<void>>(command_stores)> work)
{
    return with_database(config, [&](const std::string& conninfo) {
        return run_work(conninfo, quota_limits_of(config), work);
    });
}

}  // namespace restante
