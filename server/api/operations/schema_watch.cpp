#include "server/api/operations/schema_watch.hpp"

#include "storage/migrations.hpp"

namespace restante {

schema_watch::schema_watch(pq::connection_pool& db, readiness& ready) : db_(db)
{
    ready.add([this]() -> std::optional<std::string> {
        const auto status = db_.status();
        if (!status.ready)
            return "database: " + status.last_error;
        return reason_;
    });
}

awaitable<std::optional<std::string>> schema_watch::look()
{
    auto session = co_await db_.acquire();
    if (!session)
        co_return reason_;  // the database's own trouble is said above
    auto version = co_await schema_version(**session);
    if (!version)
        co_return version.error().message;
    const int needed = newest_schema_version();
    if (*version < needed)
        co_return "the schema is at version " + std::to_string(*version) + ", this server needs " +
            std::to_string(needed) + ": run `restante migrate`";
    co_return std::nullopt;
}

awaitable<void> schema_watch::run(task_group& tasks)
{
    bool stopped = false;
    while (!stopped) {
        reason_ = co_await look();
        const std::chrono::milliseconds pause = reason_ ? std::chrono::seconds(2) : std::chrono::seconds(30);
        stopped = co_await tasks.stopped_within(pause);
    }
}

}  // namespace restante
