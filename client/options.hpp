#pragma once

#include "client/settings.hpp"

#include <span>
#include <string_view>
#include <variant>

namespace restante::client {

using setting_member = std::variant<bool settings::*, unsigned settings::*, std::string settings::*,
                                    std::chrono::milliseconds settings::*>;

// One setting, with everything that the command line, the environment, client.conf and --help need.
struct option {
    std::string_view flag;        // without dashes; also the key in client.conf
    std::string_view value_name;  // empty: a switch
    setting_member member;
    std::string_view help;
    unsigned verbs;       // bits of verb
    bool in_file = true;  // else only a flag
    unsigned least = 0;   // of numbers
    unsigned most = 0;
    std::string_view choices = {};  // of the value, separated by spaces, if these are a closed set
};

constexpr unsigned bit(verb what)
{
    return 1u << static_cast<unsigned>(what);
}

std::span<const option> option_table();

// nullptr if this verb has none of that name.
const option* find_option(verb what, std::string_view flag);

// RESTANTE_TOKEN_FILE for token-file.
std::string environment_name(const option& o);

}  // namespace restante::client
