#pragma once

#include "client/settings.hpp"

#include <span>
#include <variant>

namespace restante::client {

// What was asked for, with every setting validated.
struct command {
    verb what;
    std::vector<std::string> files;  // of send
    settings config;
};

struct help_request {
    std::string text;
};

using parsed_command_line = std::variant<command, failure, help_request>;

// Whether these arguments are for the client: `pull …`, `help pull`.
bool is_client_command(std::span<const std::string> args);

// `program` is what the user typed, for the texts.
parsed_command_line parse_command_line(std::string_view program, std::span<const std::string> args,
                                       const environment& env);

// The output of `restante-client --help`.
std::string general_help(std::string_view program);

}  // namespace restante::client
