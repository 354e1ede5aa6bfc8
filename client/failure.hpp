#pragma once

#include <boost/json/object.hpp>
#include <boost/system/result.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace restante::client {

// What the shell sees; scripts rely on these.
enum class exit_code {
    done = 0,
    failed = 1,
    usage = 2,
    refused = 3,       // the server said 4xx
    unauthorized = 4,  // 401 or 403
    gave_up = 5,       // nothing decided within --give-up-after
    too_large = 6,     // 413, or 507: the quota
    interrupted = 130,
};

// Why something did not work: a stable code for programs, a sentence for people.
struct failure {
    exit_code exit = exit_code::failed;
    std::string code;
    std::string text;
    bool transient = false;  // worth another try
    std::optional<std::chrono::milliseconds> retry_after = {};
    // Of an answer of the server: its status, and what it says besides the sentence, such as a limit.
    unsigned status = 0;
    boost::json::object details = {};
};

template <class T>
using outcome = boost::system::result<T, failure>;

}  // namespace restante::client
