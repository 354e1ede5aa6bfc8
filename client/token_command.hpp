#pragma once

#include "client/failure.hpp"

#include <string>

namespace restante::client {

// Long enough for somebody who types the password of a store of passwords.
inline constexpr auto time_for_token_command = std::chrono::minutes(1);

// What the command prints, run by sh; blocking. What it says on stderr is seen by the user. Fails with
// token_command_failed, which says how it ended, or that it took longer than `limit` and was killed. It has
// ended when the shell has, whatever that has left in the background.
outcome<std::string> run_token_command(const std::string& command,
                                       std::chrono::milliseconds limit = time_for_token_command);

}  // namespace restante::client
