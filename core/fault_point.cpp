#include "core/fault_point.hpp"

#ifdef RESTANTE_FAULT_POINTS

#include "core/log.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <optional>
#include <sys/socket.h>
#include <unistd.h>

namespace restante {

namespace {

const char* const order_file = std::getenv("RESTANTE_FAULT");

std::atomic<int> times_reached{0};

struct order {
    std::string point;
    std::string action;
    int time = 0;
};

// Read on every call: a test writes the file once its setup is complete, and a restarted server finds none.
std::optional<order> read_order()
{
    if (!order_file)
        return std::nullopt;
    std::ifstream file(order_file);
    order given;
    if (!(file >> given.point >> given.action >> given.time))
        return std::nullopt;
    return given;
}

// The tests connect to PostgreSQL through a unix socket, and nothing else uses one.
void drop_database_connections()
{
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        const int descriptor = std::stoi(entry.path().filename());
        sockaddr_storage peer{};
        socklen_t size = sizeof peer;
        const bool connected = ::getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &size) == 0;
        if (connected && peer.ss_family == AF_UNIX)
            ::shutdown(descriptor, SHUT_RDWR);
    }
}

void carry_out(std::string_view action)
{
    if (action == "kill")
        std::raise(SIGKILL);
    else if (action == "stop")
        std::raise(SIGSTOP);
    else if (action == "drop")
        drop_database_connections();
    else if (action == "throw")
        throw std::bad_alloc();
}

}  // namespace

void fault_point(std::string_view place, std::string_view what)
{
    const auto given = read_order();
    if (!given)
        return;
    std::string here(place);
    if (!what.empty())
        here.append("/").append(what);
    if (given->point != here || ++times_reached < given->time)
        return;
    // If two threads get here at once, the one that removes the file carries out the action.
    if (::unlink(order_file) != 0)
        return;
    times_reached = 0;
    log_line(log_level::warn, "fault_point").field("point", here).field("action", given->action);
    carry_out(given->action);
}

bool fault_is_due(std::string_view place)
{
    const auto given = read_order();
    return given && given->point == place && times_reached + 1 >= given->time;
}

}  // namespace restante

#endif
