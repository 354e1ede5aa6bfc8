#pragma once

#include <chrono>
#include <optional>
#include <sys/types.h>

namespace restante::bench {

// What the processes have used since they started, from /proc.
struct usage {
    std::chrono::steady_clock::time_point at;
    std::optional<double> server_cpu;    // seconds, user and system
    std::optional<double> postgres_cpu;  // the same, for the postmaster and all its children
    double client_cpu = 0;
};

// Reads what the server and the postmaster use; either may be unknown.
class process_monitor {
public:
    process_monitor(std::optional<pid_t> server, std::optional<pid_t> postmaster)
        : server_(server), postmaster_(postmaster)
    {
    }

    usage now() const;

    // The server's memory in bytes. The peak is since the last reset_peak(), if the kernel permits resetting
    // it.
    std::optional<double> resident() const;
    std::optional<double> peak() const;
    void reset_peak() const;

private:
    std::optional<pid_t> server_;
    std::optional<pid_t> postmaster_;
};

}  // namespace restante::bench
