#pragma once

#include "client/failure.hpp"
#include "core/task_group.hpp"

#include <string>
#include <utility>
#include <vector>

namespace restante::client {

struct command_to_run {
    std::string shell_text;
    std::string input;                                             // its standard input
    std::vector<std::pair<std::string, std::string>> environment;  // besides ours, without our token
    std::chrono::milliseconds timeout;
    bool output_to_stderr = false;  // stdout is for somebody else
};

// Between SIGTERM and SIGKILL.
inline constexpr auto time_to_end = std::chrono::seconds(5);

// Runs it with sh, in a process group of its own, which has to end when the time is over or `owner` is to
// stop, and is killed when nobody waits any more. Fails with command_failed (the text says how it ended) or
// command_timeout.
awaitable<outcome<void>> run_command(command_to_run what, task_group& owner);

}  // namespace restante::client
