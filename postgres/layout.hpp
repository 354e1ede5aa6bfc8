#pragma once

#include "core/startup_failure.hpp"
#include "postgres/account.hpp"
#include "core/unique_fd.hpp"

#include <filesystem>
#include <optional>

namespace restante {

// The files of a private PostgreSQL under a data directory:
//
//   postgres/             ours; owned by the server's user
//     server.lock         held while a server uses this directory
//     socket_directory    names the socket's directory if that has to be elsewhere
//     log                 PostgreSQL's messages
//     data/  socket/      PostgreSQL's; owned by the account that runs it
//
// Root keeps the outer directory to itself, so that nobody else can plant a file that root opens there.
struct postgres_layout {
    std::filesystem::path root;
    std::filesystem::path data;
    std::filesystem::path socket;  // short and plain enough for PostgreSQL and libpq
    std::filesystem::path log;
};

// Creates the missing directories, except data/. Fails if they cannot be created, belong to another user, or
// are not accessible to the account; the message names the first such directory.
startup_result<postgres_layout> prepare_layout(const std::filesystem::path& data_dir, const account& who);

// The files of a cluster that exists, found without creating or locking anything; nullopt if there is none.
std::optional<postgres_layout> find_layout(const std::filesystem::path& data_dir, const account& who);

// Held by the server for its lifetime; the kernel releases it if the server crashes. Fails if another server
// holds it.
startup_result<unique_fd> lock_layout(const postgres_layout& layout);

// Whether PostgreSQL can create its socket in this directory: socket paths must be short, and commas, spaces
// and quotes have a meaning in unix_socket_directories or in a conninfo.
bool fits_a_socket(const std::filesystem::path& directory);

}  // namespace restante
