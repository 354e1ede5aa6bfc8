#pragma once

#include "cli/verbs.hpp"

namespace restante {

// What `restante --help` prints.
std::string general_help();

// What `restante workspace --help` prints: the verbs that begin with this word.
std::string family_help(std::string_view first_word);

// What `restante serve --help` prints: usage, options by group with defaults, exit codes.
std::string verb_help(const verb_entry& entry);

// "restante token issue WORKSPACE [OPTION]...".
std::string usage_line(const verb_entry& entry);

}  // namespace restante
