#pragma once

#include "bench/options.hpp"

#include <span>
#include <string>

namespace restante::bench {

// Sets the options that the arguments name, as --flag VALUE or --flag=VALUE. Arguments without dashes are
// workloads. A flag that is given twice has its last value. Throws failure for an unknown flag, for a missing
// value and for a value of the wrong type; ranges are not checked here.
void parse_flags(std::span<const std::string> arguments, options& into);

// One line for each flag, with its default.
std::string flags_help();

}  // namespace restante::bench
