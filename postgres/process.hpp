#pragma once

#include "postgres/account.hpp"
#include "postgres/unique_fd.hpp"
#include "core/startup_failure.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace restante {

// A running program: our child, or one that somebody else started. Held by a pidfd, so that its number can be
// given to another process without our signals ever reaching that one. Move-only; letting go of it does not
// end the program.
class process {
public:
    // Takes hold of a process by its number; nothing when there is none.
    static std::optional<process> find(pid_t pid);

    pid_t pid() const { return pid_; }
    bool alive();

    // True when it ended within the time. A child is collected.
    bool wait_for_end(std::chrono::milliseconds limit);

    void send(int signal);

    // What wait(2) told of a child that ended: "exit status 1", "signal 9 (Killed)".
    std::string how_it_ended() const;
    bool succeeded() const { return ended_ && status_ == 0; }

private:
    friend startup_result<process> spawn(const std::vector<std::string>&, const account&, int);

    process(pid_t pid, unique_fd handle, bool is_child);

    pid_t pid_;
    unique_fd handle_;
    bool is_child_;
    bool ended_ = false;
    int status_ = 0;
};

// Starts argv[0], an absolute path, with the account's rights, in a session of its own (a Ctrl-C in our
// terminal is for us to pass on), with stdout and stderr on `output` and none of our other descriptors.
startup_result<process> spawn(const std::vector<std::string>& argv, const account& who, int output);

struct program_output {
    bool succeeded = false;
    std::string text;  // stdout and stderr as they came, the last 64 KiB
};

// Runs a program to its end. Fails when it cannot be started, or does not end in time and had to be killed.
startup_result<program_output> run_program(const std::vector<std::string>& argv, const account& who,
                                           std::chrono::milliseconds limit);

}  // namespace restante
