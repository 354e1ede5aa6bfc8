#pragma once

#include <boost/system/result.hpp>

#include <string>

namespace restante {

// Why the server cannot start: sentences for the person at the terminal, the only one who can act on them. No
// program distinguishes these failures, so they carry no code.
struct startup_failure {
    std::string message;
};

template <class T>
using startup_result = boost::system::result<T, startup_failure>;

}  // namespace restante
