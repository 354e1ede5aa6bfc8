#pragma once

#include "cli/settings.hpp"

#include <optional>
#include <string>
#include <sys/types.h>
#include <variant>
#include <vector>

namespace restante::bench {

struct options {
    std::vector<std::string> works;  // upload:10KiB, parked:10000, …
    std::string server = "http://127.0.0.1:8080";
    std::optional<host_port> metrics;
    std::string admin_token;
    std::optional<pid_t> server_pid;
    std::optional<pid_t> postgres_pid;
    unsigned connections = 32;
    unsigned threads = 1;
    unsigned workspaces = 16;
    unsigned addresses = 8;
    double seconds = 6;
    double warm_up = 1;
    unsigned timeout = 30;
    std::string cursors;
    std::string json;
    bool no_head = false;
    bool quiet = false;
};

struct help_text {
    std::string text;
};

// Throws failure, with a sentence, for a command line that makes no sense.
std::variant<options, help_text> read_options(int argc, const char* const* argv);

}  // namespace restante::bench
