#include "server/commands/status.hpp"

#include "server/app/quota_limits.hpp"
#include "server/commands/database_session.hpp"
#include "server/commands/status_text.hpp"

#include <boost/asio/basic_signal_set.hpp>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <unistd.h>

namespace restante {

namespace {

constexpr auto watch_interval = std::chrono::seconds(2);
constexpr const char* clear_screen = "\x1b[H\x1b[2J\x1b[3J";

std::string explain(const error_code& failure, const pq::connection_pool& db)
{
    if (failure == errc::schema_missing)
        return "the database has no schema or an old one; run `restante migrate`";
    const auto status = db.status();
    return status.last_error.empty() ? failure.message() : failure.message() + ": " + status.last_error;
}

awaitable<bool> show(pq::connection_pool& db, const own_options& own, quota_limits defaults)
{
    const auto report = co_await read_status(db, defaults);
    if (!report) {
        std::cerr << "restante: " << explain(report.error(), db) << '\n';
        co_return false;
    }
    if (own.watch && !own.json && ::isatty(STDOUT_FILENO))
        std::cout << clear_screen;
    std::cout << (own.json ? status_json(*report) : status_table(*report)) << std::flush;
    co_return true;
}

awaitable<int> show_status(const std::string& conninfo, const own_options& own, quota_limits defaults)
{
    const executor ex = co_await asio::this_coro::executor;
    pq::connection_pool db(
        ex, {.connect = {.conninfo = conninfo}, .connections = 1, .wait_limit = std::chrono::seconds(10)});
    bool shown = co_await show(db, own, defaults);
    if (!own.watch)
        co_return shown ? EXIT_SUCCESS : EXIT_FAILURE;

    // A signal ends the watch gracefully: a private PostgreSQL that was started for it is stopped.
    bool interrupted = false;
    steady_timer pause(ex);
    asio::basic_signal_set<executor> signals(ex, SIGINT, SIGTERM);
    signals.async_wait([&](boost::system::error_code ec, int) {
        interrupted = !ec;
        pause.cancel();
    });
    while (!interrupted && std::cout) {
        pause.expires_after(watch_interval);
        co_await pause.async_wait(use_tuple);
        if (!interrupted)
            co_await show(db, own, defaults);
    }
    co_return EXIT_SUCCESS;
}

}  // namespace

int run_status(const command& asked)
{
    return with_database(asked.config, [&](const std::string& conninfo) {
        return show_status(conninfo, asked.own, quota_limits_of(asked.config));
    });
}

}  // namespace restante
