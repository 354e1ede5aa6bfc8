#pragma once

#include "core/startup_failure.hpp"
#include "core/unique_fd.hpp"
#include "postgres/account.hpp"
#include "postgres/binaries.hpp"
#include "postgres/layout.hpp"
#include "postgres/process.hpp"

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace restante {

struct private_postgres_options {
    std::filesystem::path data_dir;
    unsigned max_connections = 100;
    // Crash recovery may read gigabytes of WAL; a PostgreSQL that exits is noticed at once, not by this
    // timeout.
    std::chrono::milliseconds start_limit = std::chrono::minutes(5);
    std::chrono::milliseconds stop_limit = std::chrono::minutes(1);
    // How long an orphaned PostgreSQL may take to respond before it is stopped and started again.
    std::chrono::milliseconds adoption_limit = std::chrono::seconds(15);
    binary_places binaries = binary_places::from_environment();
    // Asked many times a second while something is waited for in start(); once it is true, start() puts
    // things back in order and fails.
    interruption interrupted = never;
    // However the thread that started it ends, by a Ctrl-C for one: what nobody would adopt soon. A server's
    // goes on when the server crashes, so that the next one finds it ready.
    bool stops_with_us = false;
};

// A PostgreSQL that belongs to one server: created under the data directory on first use, reachable through a
// unix socket only, started and stopped with the server. Move-only; the destructor stops the database.
//
// Every call may block, so none belongs on a shard, and only one thread at a time may use it.
class private_postgres {
public:
    // Creates the cluster if there is none, and starts it; one that a crashed server left running is adopted
    // as it is. Fails with a message that says what to do: no binaries, another version's or another user's
    // directory, another server using it, a full disk, the reason that PostgreSQL itself gave, or that it was
    // interrupted.
    static startup_result<private_postgres> start(private_postgres_options options);

    // Whether a cluster was created in this data directory.
    static bool exists(const std::filesystem::path& data_dir);

    // How to connect to the PostgreSQL that is running on this data directory, started by a server or left by
    // one that crashed; nullopt if there is none. Only looks: no file is created and no lock taken.
    static std::optional<std::string> conninfo_of_running(const std::filesystem::path& data_dir);

    private_postgres(private_postgres&&) noexcept = default;
    private_postgres& operator=(private_postgres&&) = delete;
    ~private_postgres();

    // For libpq; constant for the life of the object.
    std::string conninfo() const;

    bool alive();

    // Restarts PostgreSQL if it has died.
    startup_result<void> ensure_running();

    // Ends all sessions and waits for a clean shutdown, and forces it after the limit. Idempotent.
    void stop();

private:
    enum class readiness { ready, ended, late, interrupted };

    private_postgres(private_postgres_options options, account who, postgres_binaries binaries,
                     postgres_layout layout, unique_fd lock);

    bool adopt();
    startup_result<void> launch();
    void end_postmaster();
    std::vector<std::string> command_line() const;
    readiness wait_until_ready(std::chrono::steady_clock::time_point deadline);

    private_postgres_options options_;
    account who_;
    postgres_binaries binaries_;
    postgres_layout layout_;
    unique_fd lock_;
    std::unique_ptr<process> postmaster_;  // null once stopped
};

}  // namespace restante
