#include "server/commands/migrate.hpp"

#include "server/commands/database_session.hpp"
#include "server/commands/plain_words.hpp"
#include "storage/migrations.hpp"

#include <cstdlib>
#include <iostream>
#include <vector>

namespace restante {

namespace {

// "2 waiting files, 1 receipt and 3 workspaces": what there is of it.
std::string described(const migration_losses& losses)
{
    const struct {
        std::int64_t count;
        const char* one;
        const char* many;
    } kinds[] = {
        {losses.files, "waiting file", "waiting files"},
        {losses.activity, "activity row", "activity rows"},
        {losses.workspaces, "workspace", "workspaces"},
        {losses.receipts, "receipt", "receipts"},
        {losses.cursors, "cursor", "cursors"},
        {losses.tokens, "token or grant with a scope or an end", "tokens and grants with a scope or an end"},
        {losses.limits, "limit of a workspace", "limits of workspaces"}};
    std::vector<std::string> parts;
    for (const auto& [count, one, many] : kinds)
        if (count > 0)
            parts.push_back(counted(count, one, many));
    std::string text = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i)
        text += (i + 1 < parts.size() ? ", " : " and ") + parts[i];
    return text;
}

// Says what would be lost, and why not to go on.
std::optional<std::string> object_to(const migration_losses& losses, const own_options& own)
{
    if (own.dry_run)
        std::cout << "would delete " << described(losses) << '\n';
    if (own.dry_run || own.yes_lose_files)
        return std::nullopt;
    return "this would delete " + described(losses) + "; nothing was done. --yes-lose-files does it.";
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
    request.object = [&](const migration_losses& losses) { return object_to(losses, own); };
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
