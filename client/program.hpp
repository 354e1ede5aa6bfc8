#pragma once

#include "cli/config.hpp"

#include <span>
#include <string>
#include <string_view>

namespace restante::client {

// Runs `PROGRAM pull|send|login …` and returns its exit code.
int run_program(std::string_view program, std::span<const std::string> args, const environment& env);

}  // namespace restante::client
