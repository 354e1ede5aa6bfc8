#include "server/app/database.hpp"

#include "core/asio.hpp"
#include "core/log.hpp"
#include "storage/migrations.hpp"

#include <boost/asio/co_spawn.hpp>

#include <condition_variable>
#include <mutex>

namespace restante {

namespace {

constexpr auto patience = std::chrono::seconds(30);
constexpr auto pause_between_attempts = std::chrono::milliseconds(500);
constexpr auto keeper_interval = std::chrono::seconds(1);

awaitable<startup_result<std::unique_ptr<pq::connection>>> connect(std::string conninfo)
{
    const pq::connect_options options{.conninfo = std::move(conninfo)};
    const auto give_up_at = std::chrono::steady_clock::now() + patience;
    steady_timer pause(co_await asio::this_coro::executor);
    for (bool logged = false;; logged = true) {
        std::string why;
        auto opened = co_await pq::connection::open(options, &why);
        if (opened && !(*opened)->through_a_pooler())
            co_return std::move(*opened);
        if (opened) {
            // In transaction mode a second session is the first one again, and says so.
            const auto another = co_await pq::connection::open(options, &why);
            if (another)
                co_return std::move(*opened);
            opened = another.error();
        }
        if (opened.error() == errc::database_unsafe)
            co_return startup_failure{"the database cannot be used: " + why};
        if (opened.error() == errc::bad_setting)
            co_return startup_failure{"--database-url: " + why};
        if (std::chrono::steady_clock::now() >= give_up_at)
            co_return startup_failure{"the database cannot be reached: " + why};
        if (!logged)
            log_line(log_level::warn, "waiting_for_database").field("reason", why);
        pause.expires_after(pause_between_attempts);
        co_await pause.async_wait(use_tuple);
    }
}

awaitable<startup_result<int>> bring_up_to_date(std::string conninfo)
{
    auto session = co_await connect(std::move(conninfo));
    if (!session)
        co_return session.error();
    const auto tell = [](const migration_step& step) {
        log_line(log_level::info, "migrating").field("name", step.what->name);
    };
    co_return co_await migrate(**session, {}, tell);
}

// Blocks: no shard runs yet that it could hold up.
template <class T>
startup_result<T> run_now(awaitable<startup_result<T>> work)
{
    asio::io_context io(1);
    std::optional<startup_result<T>> outcome;
    std::exception_ptr failure;
    asio::co_spawn(io, std::move(work), [&](std::exception_ptr thrown, startup_result<T> value) {
        failure = thrown;
        outcome = std::move(value);
    });
    io.run();
    if (failure)
        std::rethrow_exception(failure);
    return std::move(*outcome);
}

}  // namespace

startup_result<database> database::open(const settings& config, const interruption& interrupted)
{
    database opened;
    std::string why;
    if (!config.replica_url.empty() && !pq::conninfo::parse(config.replica_url, why))
        return startup_failure{"--replica-url: " + why};
    if (config.database_url.empty()) {
        auto started = private_postgres::start({.data_dir = config.data_dir,
                                                .max_connections = config.db_connections + 50,
                                                .interrupted = interrupted});
        if (!started)
            return started.error();
        opened.own_ = std::make_unique<private_postgres>(std::move(*started));
        opened.conninfo_ = opened.own_->conninfo();
        opened.keep_running();
    } else {
        opened.conninfo_ = config.database_url;
    }
    if (!config.no_migrate) {
        auto migrated = run_now(bring_up_to_date(opened.conninfo_));
        if (!migrated)
            return migrated.error();
    }
    return opened;
}

void database::keep_running()
{
    keeper_ = std::jthread([own = own_.get()](std::stop_token stop) {
        std::mutex guard;
        std::condition_variable_any bell;
        std::unique_lock lock(guard);
        while (!bell.wait_for(lock, stop, keeper_interval, [&] { return stop.stop_requested(); })) {
            if (own->alive())
                continue;
            log_line(log_level::error, "private_postgres_died");
            if (auto started = own->ensure_running(); !started)
                log_line(log_level::error, "private_postgres_not_restarted")
                    .field("error", started.error().message);
        }
    });
}

database::~database()
{
    if (keeper_.joinable()) {
        keeper_.request_stop();
        keeper_.join();
    }
}

}  // namespace restante
