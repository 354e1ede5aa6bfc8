#include "client/process_group.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace restante::client {

namespace {

namespace fs = std::filesystem;

// "PID (NAME) STATE PARENT GROUP …", where the name may have anything in it.
bool runs_in(pid_t group, const std::string& stat)
{
    const auto name_end = stat.rfind(')');
    if (name_end == std::string::npos)
        return false;
    std::istringstream rest(stat.substr(name_end + 1));
    char state = 0;
    pid_t parent = 0;
    pid_t its_group = 0;
    return rest >> state >> parent >> its_group && its_group == group && state != 'Z' && state != 'X';
}

}  // namespace

bool has_running_process(pid_t group)
{
    std::error_code ec;  // nobody is in a directory that cannot be read
    for (fs::directory_iterator at("/proc", ec), end; !ec && at != end; at.increment(ec)) {
        const auto name = at->path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos)
            continue;
        std::ifstream in(at->path() / "stat");  // it may have ended since, and then there is nothing to read
        if (runs_in(group, std::string(std::istreambuf_iterator<char>(in), {})))
            return true;
    }
    return false;
}

}  // namespace restante::client
