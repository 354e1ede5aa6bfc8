#pragma once

#include "cli/verbs.hpp"

namespace restante {

// The output of `restante --help`.
std::string general_help();

// The output of `restante workspace --help`: the verbs that start with this word.
std::string family_help(std::string_view first_word);

// The output of `restante serve --help`: usage, options by group with defaults, exit codes.
std::string verb_help(const verb_entry& entry);

// "restante token issue WORKSPACE [OPTION]...".
std::string usage_line(const verb_entry& entry);

}  // namespace restante
