#pragma once

#include <boost/system/result.hpp>

#include <string>

namespace restante {

// Why the server cannot start: sentences for the person in front of the terminal, who is the only one to act
// on them. No program tells these failures apart, so they carry no code.
struct startup_failure {
    std::string message;
};

template <class T>
using startup_result = boost::system::result<T, startup_failure>;

}  // namespace restante
