#pragma once

#include "client/settings.hpp"

#include <span>
#include <string_view>

namespace restante::client {

struct verb_entry {
    verb what;
    std::string_view word;
    std::string_view arguments;
    std::string_view summary;
    std::string_view details;
    std::string_view examples;  // lines; PROGRAM stands for what the user typed
};

std::span<const verb_entry> verb_table();

// The output of `restante pull --help`.
std::string verb_help(std::string_view program, const verb_entry& entry);
std::string usage_line(std::string_view program, const verb_entry& entry);

}  // namespace restante::client
