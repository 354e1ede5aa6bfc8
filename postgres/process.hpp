#pragma once

#include "core/startup_failure.hpp"
#include "core/unique_fd.hpp"
#include "postgres/account.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace restante {

// A running program: our child, or one started by somebody else. Held by a pidfd, so that our signals never
// reach another process that reuses its pid. Move-only; the destructor does not end the program.
class process {
public:
    // Opens a process by its pid; nullopt if there is none.
    static std::optional<process> find(pid_t pid);

    pid_t pid() const { return pid_; }
    bool alive();

    // True if it ended in time. A child is reaped.
    bool wait_for_end(std::chrono::milliseconds limit);

    void send(int signal);

    // The wait(2) status of a child that ended: "exit status 1", "signal 9 (Killed)".
    std::string how_it_ended() const;
    bool succeeded() const { return ended_ && status_ == 0; }

private:
    friend startup_result<process> spawn(const std::vector<std::string>&, const account&, int, int);

    process(pid_t pid, unique_fd handle, bool is_child);

    pid_t pid_;
    unique_fd handle_;
    bool is_child_;
    bool ended_ = false;
    int status_ = 0;
};

// Starts argv[0], an absolute path, as the account, in its own session (so that a Ctrl-C in our terminal
// reaches only us), with stdout and stderr on `output` and none of our other descriptors. However the calling
// thread ends, the program is then sent `at_our_end`, unless that is 0.
startup_result<process> spawn(const std::vector<std::string>& argv, const account& who, int output,
                              int at_our_end = 0);

// Asked many times a second while we wait; true once the wait should end.
using interruption = std::function<bool()>;

inline bool never()
{
    return false;
}

struct program_output {
    bool succeeded = false;
    std::string text;  // stdout and stderr interleaved, the last 64 KiB
};

// Runs a program to completion. Fails if it cannot be started, or does not end in time and had to be killed,
// or was interrupted and told to end (SIGTERM).
startup_result<program_output> run_program(const std::vector<std::string>& argv, const account& who,
                                           std::chrono::milliseconds limit,
                                           const interruption& interrupted = never);

}  // namespace restante
