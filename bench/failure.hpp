#pragma once

#include <stdexcept>

namespace restante::bench {

// Ends the program with a message for the person who started it.
struct failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace restante::bench
