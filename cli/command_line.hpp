#pragma once

#include "cli/config.hpp"
#include "cli/verbs.hpp"

namespace restante {

// What the program was asked to do, with every option and setting checked.
struct command {
    verb what;
    std::vector<std::string> arguments;
    own_options own;
    settings config;
};

// Goes to stderr; the program then ends with this code.
struct usage_error {
    static constexpr int exit_code = 2;
    std::string message;
};

// Goes to stdout; the program then ends with 0.
struct help_request {
    std::string text;
};

using parsed_command_line = std::variant<command, usage_error, help_request>;

// Reads the arguments (without the program's name), the environment and the files that they name.
parsed_command_line parse_command_line(std::span<const std::string> args, const environment& env);

}  // namespace restante
