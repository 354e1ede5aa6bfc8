#pragma once

#include <chrono>
#include <optional>
#include <sys/types.h>

namespace restante::bench {

// What processes have used so far, from /proc; all of it since they began.
struct usage {
    std::chrono::steady_clock::time_point at;
    std::optional<double> server_cpu;    // seconds, user and system
    std::optional<double> postgres_cpu;  // the same, of the postmaster and all its children
    double client_cpu = 0;
};

// The processes that are watched; either may be unknown.
class watched {
public:
    watched(std::optional<pid_t> server, std::optional<pid_t> postmaster)
        : server_(server), postmaster_(postmaster)
    {
    }

    bool knows_server() const { return server_.has_value(); }
    usage now() const;

    // Of the server, in bytes. The peak is since the last forget_peak(), where the kernel lets us forget it.
    std::optional<double> resident() const;
    std::optional<double> peak() const;
    void forget_peak() const;

private:
    std::optional<pid_t> server_;
    std::optional<pid_t> postmaster_;
};

}  // namespace restante::bench
