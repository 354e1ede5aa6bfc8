#include "postgres/postmaster_pid.hpp"

#include <charconv>
#include <fstream>
#include <string>
#include <vector>

namespace restante {

namespace {

namespace fs = std::filesystem;

pid_t first_number(const fs::path& file)
{
    std::string line;
    std::ifstream in(file);
    pid_t number = 0;
    if (std::getline(in, line))
        std::from_chars(line.data(), line.data() + line.size(), number);
    return number;
}

// Empty if the process is gone, or if we may not read its command line.
std::vector<std::string> arguments_of(pid_t pid)
{
    std::ifstream in("/proc/" + std::to_string(pid) + "/cmdline");
    std::vector<std::string> arguments;
    for (std::string one; std::getline(in, one, '\0');)
        arguments.push_back(one);
    return arguments;
}

}  // namespace

postmaster_trace trace_postmaster(const fs::path& data)
{
    postmaster_trace trace;
    const pid_t pid = first_number(data / "postmaster.pid");
    if (pid <= 0)
        return trace;
    const auto arguments = arguments_of(pid);
    if (arguments.empty())
        return trace;
    // "postgres -D /its/directory …" or, for a process that sets its title, "postgres: checkpointer".
    if (!fs::path(arguments[0]).filename().string().starts_with("post"))
        trace.misleading = true;
    for (const auto& argument : arguments)
        if (argument == data)
            trace.running = pid;
    return trace;
}

}  // namespace restante
