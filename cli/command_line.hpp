#pragma once

#include "cli/config.hpp"
#include "cli/verbs.hpp"

namespace restante {

// The requested command, with every option and setting validated.
struct command {
    verb what;
    std::vector<std::string> arguments;
    own_options own;
    settings config;
};

// Printed to stderr; the program then exits with this code.
struct usage_error {
    static constexpr int exit_code = 2;
    std::string message;
};

// Printed to stdout; the program then exits with 0.
struct help_request {
    std::string text;
};

using parsed_command_line = std::variant<command, usage_error, help_request>;

// Parses the arguments (without the program's name), the environment and the files that they name.
parsed_command_line parse_command_line(std::span<const std::string> args, const environment& env);

// The settings of a command line that was right once, after the files that it names have changed.
boost::system::result<settings, setting_error> read_settings_again(std::span<const std::string> args,
                                                                   const environment& env);

}  // namespace restante
