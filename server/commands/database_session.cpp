#include "server/commands/database_session.hpp"

#include "core/log.hpp"

#include <boost/asio/co_spawn.hpp>

#include <cstdlib>
#include <iostream>

namespace restante {

namespace {

int run_on(const std::string& conninfo, const std::function<awaitable<int>(const std::string&)>& work)
{
    asio::io_context io(1);
    int code = EXIT_FAILURE;
    std::exception_ptr failure;
    asio::co_spawn(io, work(conninfo), [&](std::exception_ptr thrown, int value) {
        failure = thrown;
        code = thrown ? EXIT_FAILURE : value;
        io.stop();  // background tasks of a pool end with the command
    });
    io.run();
    if (failure)
        std::rethrow_exception(failure);
    return code;
}

}  // namespace

int with_database(const settings& config, std::function<awaitable<int>(const std::string& conninfo)> work)
{
    set_log_level(config.level);
    if (!config.database_url.empty())
        return run_on(config.database_url, work);
    if (const auto running = private_postgres::conninfo_of_running(config.data_dir))
        return run_on(*running, work);
    if (!private_postgres::exists(config.data_dir)) {
        std::cerr << "restante: there is no server data in " << config.data_dir
                  << ". Name the server's directory with --data-dir, or its database with --database-url; "
                     "`restante serve` creates a new one.\n";
        return EXIT_FAILURE;
    }
    auto own = private_postgres::start({.data_dir = config.data_dir, .stops_with_us = true});
    if (!own) {
        std::cerr << "restante: " << own.error().message << '\n';
        return EXIT_FAILURE;
    }
    return run_on(own->conninfo(), work);
}

}  // namespace restante
