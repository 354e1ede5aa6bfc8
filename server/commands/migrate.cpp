#include "server/commands/migrate.hpp"

#include "server/commands/database_session.hpp"
#include "storage/migrations.hpp"

#include <cstdlib>
#include <iostream>

namespace restante {

namespace {

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
