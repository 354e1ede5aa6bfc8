#pragma once

#include "cli/settings.hpp"
#include "core/asio.hpp"
#include "storage/quota_store.hpp"
#include "storage/tokens.hpp"
#include "storage/workspaces.hpp"

#include <functional>

namespace restante {

// The stores of a command, on a pool with a single connection.
struct command_stores {
    workspace_store& workspaces;
    token_store& tokens;
    quota_store& quotas;
};

// Opens the database, runs the work on its stores and gives an exit code. An error that the work returns is
// reported on stderr, in an operator's terms.
int with_stores(const settings& config, std::function<awaitable<result<void>>(command_stores)> work);

}  // namespace restante
