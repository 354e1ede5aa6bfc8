#pragma once

#include "cli/settings.hpp"

#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <variant>
#include <vector>

namespace restante::bench {

struct options {
    std::vector<std::string> workloads;  // upload:10KiB, parked:10000, …
    std::string server = "http://127.0.0.1:8080";
    std::optional<host_port> metrics;
    std::string admin_token_file;
    std::string admin_token;  // read from that file
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

// Reads the arguments, without the program's name. Throws failure if they are wrong or contradict each other.
std::variant<options, help_text> read_options(std::span<const std::string> arguments);

}  // namespace restante::bench
