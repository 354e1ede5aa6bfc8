#pragma once

#include "cli/settings.hpp"
#include "core/asio.hpp"
#include "core/startup_failure.hpp"
#include "postgres/private_postgres.hpp"
#include "storage/pq/connection.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace restante {

// For the commands that run beside a server, or without one: opens the database of --database-url, or the
// private PostgreSQL of the data directory (the one a server is using, or started for the length of the
// command, however that ends), runs the work on it, and gives an exit code. Only a server creates a private
// PostgreSQL: a data directory without one is an error. Errors go to stderr.
int with_database(const settings& config, std::function<awaitable<int>(const std::string& conninfo)> work);

}  // namespace restante
