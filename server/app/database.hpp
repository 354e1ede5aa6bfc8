#pragma once

#include "cli/settings.hpp"
#include "core/startup_failure.hpp"
#include "postgres/private_postgres.hpp"

#include <functional>
#include <optional>
#include <string>
#include <thread>

namespace restante {

// The database behind the server: the one named by --database-url, or a private PostgreSQL that is started
// here, kept running, and stopped at the end. The schema is brought up to date unless --no-migrate says
// otherwise.
class database {
public:
    // May block: for initdb, for crash recovery, and up to 30 s for a database that is not there yet. Fails
    // soon after `interrupted` becomes true while the private PostgreSQL is being made or started.
    static startup_result<database> open(const settings& config, const interruption& interrupted = never);

    database(database&&) noexcept = default;
    database& operator=(database&&) = delete;
    ~database();

    const std::string& conninfo() const { return conninfo_; }

private:
    database() = default;
    void keep_running();

    std::string conninfo_;
    std::unique_ptr<private_postgres> own_;
    std::jthread keeper_;  // restarts the private PostgreSQL when it dies
};

}  // namespace restante
