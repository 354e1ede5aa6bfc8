#include "test/support/scripted_server.hpp"

#include <array>
#include <netinet/in.h>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <utility>

namespace restante::test {

namespace {

constexpr int patience = 5;

int listen_on_loopback(std::uint16_t& port)
{
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(socket, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(socket, 16) != 0 ||
        ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0)
        throw std::runtime_error("cannot listen");
    port = ntohs(address.sin_port);
    return socket;
}

}  // namespace

accepted_socket::~accepted_socket()
{
    ::close(socket_);
}

void accepted_socket::send(std::string_view bytes)
{
    while (!bytes.empty()) {
        const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
}

bool accepted_socket::fill()
{
    std::array<char, 65536> block;
    const auto got = ::recv(socket_, block.data(), block.size(), 0);
    if (got <= 0)
        return false;
    buffer_.append(block.data(), static_cast<std::size_t>(got));
    return true;
}

std::string accepted_socket::read_until(std::string_view mark)
{
    for (;;) {
        if (const auto at = buffer_.find(mark); at != std::string::npos)
            return read(at + mark.size());
        if (!fill())
            return std::exchange(buffer_, {});
    }
}

std::string accepted_socket::read(std::size_t count)
{
    while (buffer_.size() < count && fill()) {
    }
    auto taken = buffer_.substr(0, count);
    buffer_.erase(0, taken.size());
    return taken;
}

std::string accepted_socket::read_rest()
{
    while (fill()) {
    }
    return std::exchange(buffer_, {});
}

void accepted_socket::reset()
{
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

scripted_server::scripted_server(std::function<void(accepted_socket&, int)> script)
    : script_(std::move(script)), listener_(listen_on_loopback(port_)), thread_([this] { run(); })
{
}

scripted_server::~scripted_server()
{
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
}

void scripted_server::run()
{
    for (;;) {
        const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (socket < 0)
            return;
        const timeval limit{.tv_sec = patience, .tv_usec = 0};
        ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        accepted_socket accepted(socket);
        script_(accepted, accepted_++);
    }
}

}  // namespace restante::test
