#pragma once

#include "core/startup_failure.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace restante {

// The programs of one PostgreSQL installation.
struct postgres_binaries {
    std::filesystem::path directory;
    int major = 0;  // 15 for 15.20

    std::string program(std::string_view name) const { return directory / name; }
};

// The search order; an empty entry is skipped.
struct binary_places {
    std::string chosen;    // RESTANTE_PG_BIN: if set, nothing else is tried
    std::string packaged;  // Debian's directory of version 15
    std::string path;      // PATH, for other systems

    static binary_places from_environment();
};

// Fails if there are none, or none of at least version 15; the message says what to install.
startup_result<postgres_binaries> find_postgres_binaries(const binary_places& places);

// The version in "postgres (PostgreSQL) 15.20 (Debian …)", or 0.
int parse_postgres_major(std::string_view version_line);

}  // namespace restante
