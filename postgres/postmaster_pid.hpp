#pragma once

#include <filesystem>
#include <optional>
#include <sys/types.h>

namespace restante {

// What postmaster.pid in a data directory says about a PostgreSQL that was left behind. After a crash its
// number may belong to anybody.
struct postmaster_trace {
    // A PostgreSQL of this very directory is running.
    std::optional<pid_t> running;

    // The number now belongs to a program that certainly is no PostgreSQL. PostgreSQL itself would not look
    // that closely and refuse to start for as long as that program lives.
    bool misleading = false;
};

postmaster_trace trace_postmaster(const std::filesystem::path& data);

}  // namespace restante
