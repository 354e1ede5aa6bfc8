#pragma once

#include "cli/options.hpp"

namespace restante {

// What is different between the settings in force and those that were read again, by flag.
struct settings_change {
    std::vector<std::string_view> applied;        // SIGHUP changes these
    std::vector<std::string_view> needs_restart;  // and these it does not
};

// A new admin token in the same file is a change of admin-token-file.
settings_change compare_settings(const settings& now, const settings& next);

// The settings in force, with what SIGHUP changes from `next`.
settings with_reloaded(settings now, const settings& next);

// "listen, threads".
std::string list_of(const std::vector<std::string_view>& flags);

}  // namespace restante
