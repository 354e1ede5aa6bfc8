#pragma once

#include "cli/options.hpp"

#include <boost/system/result.hpp>

#include <functional>

namespace restante {

// The value of an environment variable, if it is set. std::getenv in the program, a map in tests.
using environment = std::function<std::optional<std::string>(const std::string& name)>;

// The process's own environment.
environment process_environment();

// A flag as it stood on the command line; a switch has the value "true".
struct given_flag {
    const option* what;
    std::string value;
};

// One sentence for a person: which setting, what was given, what is allowed. Never holds a token.
struct setting_error {
    std::string message;
};

// Every setting that this audience reads, checked. A flag beats the environment (RESTANTE_…, where an empty
// value counts as none), which beats the config file (--config or RESTANTE_CONFIG), which beats the default.
// What the environment or the file say for other audiences is not looked at, but a key in the file that no
// setting has is an error. Reads the config file and the file of the admin token, and has no other effect.
boost::system::result<settings, setting_error> load_settings(std::span<const given_flag> flags,
                                                             const environment& env,
                                                             audience who = audience::serve);

}  // namespace restante
