#include "server/commands/migrate.hpp"

#include "server/commands/database_session.hpp"
#include "server/commands/plain_words.hpp"
#include "storage/migrations.hpp"

#include <cstdlib>
#include <iostream>

namespace restante {

namespace {

std::string described(const migration_losses& losses)
{
    return counted(losses.files, "waiting file", "waiting files") + ", " +
           counted(losses.activity, "activity row", "activity rows") + " and " +
           counted(losses.workspaces, "workspace", "workspaces");
}

// Says what would be lost, and whether to go on.
awaitable<bool> may_go_on(pq::connection& session, const migration_request& request, bool yes_lose_files)
{
    const auto losses = co_await count_losses(session, request.target);
    if (!losses) {
        std::cerr << "restante: " << losses.error().message << '\n';
        co_return false;
    }
    if (!losses->any())
        co_return true;
    if (request.dry_run)
        std::cout << "would delete " << described(*losses) << '\n';
    else if (!yes_lose_files)
        std::cerr << "restante: this would delete " << described(*losses)
                  << "; nothing was done. --yes-lose-files does it.\n";
    co_return request.dry_run || yes_lose_files;
}

awaitable<int> migrate_database(const std::string& conninfo, const own_options& own)
{
    std::string why;
    pq::connect_options options{.conninfo = conninfo};
    auto session = co_await pq::connection::open(options, &why);
    if (!session) {
        std::cerr << "restante: the database cannot be reached: " << why << '\n';
        co_return EXIT_FAILURE;
    }
    migration_request request{.target = {}, .dry_run = own.dry_run};
    if (own.to)
        request.target = static_cast<int>(*own.to);
    const bool agreed = co_await may_go_on(**session, request, own.yes_lose_files);
    if (!agreed)
        co_return EXIT_FAILURE;
    const auto tell = [&](const migration_step& step) {
        const char* verb = own.dry_run ? "would " : "";
        std::cout << verb << (step.way == direction::up ? "apply " : "undo ") << step.what->name << '\n';
    };
    auto done = co_await migrate(**session, request, tell);
    if (!done) {
        std::cerr << "restante: " << done.error().message << '\n';
        co_return EXIT_FAILURE;
    }
    if (*done == 0)
        std::cout << "nothing to do\n";
    co_return EXIT_SUCCESS;
}

}  // namespace

int run_migrate(const command& asked)
{
    return with_database(asked.config,
                         [&](const std::string& conninfo) { return migrate_database(conninfo, asked.own); });
}

}  // namespace restante
