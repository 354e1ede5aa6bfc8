#include "bench/usage.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace restante::bench {

namespace {

namespace fs = std::filesystem;

struct process_times {
    pid_t parent = 0;
    double own = 0;       // seconds
    double children = 0;  // of children that have ended and were reaped
};

// The name in parentheses may contain anything, so fields are counted from the last closing parenthesis.
std::optional<process_times> read_times(const fs::path& process)
{
    std::ifstream in(process / "stat");
    std::string line;
    if (!std::getline(in, line))
        return std::nullopt;
    std::istringstream fields(line.substr(line.rfind(')') + 2));
    std::string state, skipped;
    process_times times;
    fields >> state >> times.parent;
    for (int i = 0; i < 9; ++i)
        fields >> skipped;
    double user = 0, system = 0, children_user = 0, children_system = 0;
    fields >> user >> system >> children_user >> children_system;
    const auto tick = static_cast<double>(::sysconf(_SC_CLK_TCK));
    times.own = (user + system) / tick;
    times.children = (children_user + children_system) / tick;
    return times;
}

fs::path proc_folder(pid_t process)
{
    return fs::path("/proc") / std::to_string(process);
}

bool is_number(const std::string& text)
{
    return text.find_first_not_of("0123456789") == std::string::npos;
}

std::optional<double> read_process_tree(pid_t head)
{
    const auto own = read_times(proc_folder(head));
    if (!own)
        return std::nullopt;
    double total = own->own + own->children;
    std::error_code ec;
    for (const auto& entry : fs::directory_iterator("/proc", ec)) {
        if (!is_number(entry.path().filename()))
            continue;
        const auto times = read_times(entry.path());
        if (times && times->parent == head)
            total += times->own;
    }
    return total;
}

std::optional<double> read_status(std::optional<pid_t> process, const std::string& key)
{
    if (!process)
        return std::nullopt;
    std::ifstream in(proc_folder(*process) / "status");
    for (std::string line; std::getline(in, line);)
        if (line.starts_with(key + ":"))
            return std::stod(line.substr(key.size() + 1)) * 1024;
    return std::nullopt;
}

double own_cpu()
{
    rusage used = {};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace

usage process_monitor::now() const
{
    usage used{.at = std::chrono::steady_clock::now(),
               .server_cpu = {},
               .postgres_cpu = {},
               .client_cpu = own_cpu()};
    if (server_)
        if (const auto times = read_times(proc_folder(*server_)))
            used.server_cpu = times->own;
    if (postmaster_)
        used.postgres_cpu = read_process_tree(*postmaster_);
    return used;
}

std::optional<double> process_monitor::resident() const
{
    return read_status(server_, "VmRSS");
}

std::optional<double> process_monitor::peak() const
{
    return read_status(server_, "VmHWM");
}

void process_monitor::reset_peak() const
{
    if (server_)
        std::ofstream(proc_folder(*server_) / "clear_refs") << 5;
}

}  // namespace restante::bench
