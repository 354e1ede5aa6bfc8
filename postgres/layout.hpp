#pragma once

#include "postgres/account.hpp"
#include "postgres/unique_fd.hpp"
#include "core/startup_failure.hpp"

#include <filesystem>

namespace restante {

// The places of a private PostgreSQL under a data directory:
//
//   postgres/             ours; its owner is the server's user
//     server.lock         held while a server uses this directory
//     socket_directory    names the directory of the socket, when it has to lie elsewhere
//     log                 what PostgreSQL says
//     data/  socket/      PostgreSQL's; their owner is the account that runs it
//
// Root keeps the outer directory for itself, so that what root opens there cannot have been put there by
// others.
struct postgres_layout {
    std::filesystem::path root;
    std::filesystem::path data;
    std::filesystem::path socket;  // short and plain enough for PostgreSQL and libpq
    std::filesystem::path log;
};

// Makes the directories that are missing, except data/. Fails when they cannot be made, belong to somebody
// else, or lie where the account cannot go; the message names the first such directory.
startup_result<postgres_layout> prepare_layout(const std::filesystem::path& data_dir, const account& who);

// Taken by the server for as long as it lives; the kernel lets go of it if the server crashes. Fails when
// another server holds it.
startup_result<unique_fd> lock_layout(const postgres_layout& layout);

// Whether PostgreSQL can have its socket in a directory of this name: sockets have short paths, and commas,
// spaces and quotes mean something else in unix_socket_directories or in a conninfo.
bool fits_a_socket(const std::filesystem::path& directory);

}  // namespace restante
