#pragma once

#include "cli/options.hpp"

#include <boost/system/result.hpp>

#include <functional>

namespace restante {

// The value of an environment variable, if it is set. std::getenv in the program, a map in tests.
using environment = std::function<std::optional<std::string>(const std::string& name)>;

// The environment of this process.
environment process_environment();

// A flag as given on the command line; a switch has the value "true".
struct given_flag {
    const option* what;
    std::string value;
};

// One sentence for the user: which setting, what was given, what is allowed. Never contains a token.
struct setting_error {
    std::string message;
};

// Every setting of this audience, validated. A flag overrides the environment (RESTANTE_…, where an empty
// value counts as unset), which overrides the config file (--config or RESTANTE_CONFIG), which overrides the
// default. Settings of other audiences in the environment or the file are ignored, but an unknown key in the
// file is an error. Reads the config file and the admin token file, and has no other effect.
boost::system::result<settings, setting_error> load_settings(std::span<const given_flag> flags,
                                                             const environment& env,
                                                             audience who = audience::serve);

}  // namespace restante
