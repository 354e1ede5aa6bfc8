#pragma once

#include <filesystem>
#include <optional>
#include <sys/types.h>

namespace restante {

// What postmaster.pid in a data directory says about a PostgreSQL that a crash left behind. Its pid may since
// have been reused by any process.
struct postmaster_trace {
    // A PostgreSQL of this directory is running.
    std::optional<pid_t> running;

    // The pid now belongs to a program that is certainly not PostgreSQL. PostgreSQL itself does not check
    // that closely and would refuse to start for as long as that program runs.
    bool misleading = false;
};

postmaster_trace trace_postmaster(const std::filesystem::path& data);

}  // namespace restante
